"""A question: plans side by side, only what differs, in verbs and units."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reap._errors import InputError
from reap.language import _, listed, ngettext
from reap.plan import Plan
from reap.space import Change
from reap.space.words import Meaning, doings, in_time, lowered, together

_WORDS = {"left": 0, "right": 1}


@dataclass(frozen=True)
class Difference:
    """One feature in which the options differ: its value now, and in each option."""

    label: str
    now: str
    values: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """Which of these plans would be easiest for you?

    Parameters
    ----------
    id : str
        Names this question in this session.
    number : int
        1 for the first.
    options : tuple of Plan
    gain : float
        Share of the expected effort that the answer is expected to save; NaN where the strategy does not say.
    whole : bool
        Whether each option leads to a yes by itself; otherwise they are parts of plans.
    """

    id: str
    number: int
    options: tuple[Plan, ...] = field(repr=False)
    gain: float = float("nan")
    whole: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The options' names: A, B, …"""
        return tuple(chr(ord("A") + i) for i in range(len(self.options)))

    @cached_property
    def entailed(self) -> frozenset[str]:
        """Features that options change, if at all, only because another change asks for it: nothing to weigh."""
        space, start = self.options[0].space, self.options[0].path[0]
        if not space.rules:
            return frozenset()
        by_rule = space.legal.entailing(start, np.stack([option.done[-1] for option in self.options])) >= 0
        moved = [{change.feature for change in option.changes} for option in self.options]
        return frozenset(
            feature.name
            for i, feature in enumerate(space.features)
            if all(by_rule[k, i] or feature.name not in names for k, names in enumerate(moved))
        )

    @cached_property
    def apart(self) -> tuple[tuple[Change, ...], ...]:
        """What each option asks for beyond what all share: by the person's own doing, and whole deeds."""
        order = [feature.name for feature in self.options[0].space.features]
        known = self.entailed | {change.feature for change in self.shared}
        own = [[c for c in option.changes if c.feature not in known] for option in self.options]
        return tuple(tuple(sorted(each, key=lambda c: order.index(c.feature))) for each in own)

    @cached_property
    def brought(self) -> dict[str, tuple[Change | None, ...]]:
        """What each option brings along, by feature, where they differ in that: nothing to weigh, but to know."""
        space = self.options[0].space
        each = [{c.feature: c for c in option.follows} for option in self.options]
        moved = [f.name for f in space.features if f.effect is not None]
        found = {name: tuple(own.get(name) for own in each) for name in moved}
        return {name: all_ for name, all_ in found.items() if len(set(all_)) > 1}

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What each option is about, by content: what sets it apart; of more than two changes the two that tell most."""
        farthest: dict[str, float] = {}
        for change in itertools.chain(*self.apart):
            farthest[change.feature] = max(farthest.get(change.feature, 0.0), _distance(change))
        counts = Counter(change.feature for change in itertools.chain(*self.apart))
        titles = []
        for changes in self.apart:
            own = telling = [change for change in changes if change.feature not in self.alike]
            if len(own) > 2:  # what it alone changes goes before what it moves farther than the others do
                farther = [_distance(c) == farthest[c.feature] for c in own]
                ranked = sorted(range(len(own)), key=lambda i: (counts[own[i].feature] > 1, not farther[i]))
                telling = [own[i] for i in sorted(ranked[:2])]
            named = [_title(c, counts[c.feature] > 1) for c in telling]
            named += [_("other changes")] if len(own) > 2 else []
            titles.append(listed(named) or _("no more than that"))
        return tuple(titles)

    @property
    def asks(self) -> str:
        """What is asked: of plans, which would be easier; of steps, which is easier to do."""
        two = len(self.options) == 2
        if not self.whole:
            return (
                _("Which of these steps is easier to do?")
                if two
                else _("Which of these steps is easiest to do?")
            )
        return _("Which would be easier for you?") if two else _("Which would be easiest for you?")

    @property
    def heading(self) -> str:
        """What is asked, with its number."""
        return f"{_('Question {number}.').format(number=self.number)} {self.asks}"

    @property
    def promise(self) -> str:
        """What all options come to: that they lead to a yes and ask for nothing else, or that they are parts of plans."""
        two, yes = len(self.options) == 2, self.options[0].space.meaning.said("yes")
        if not self.whole:
            return _("These are only steps. More may be needed for a yes.")
        if yes:
            said = _("Either way, {yes}.") if two else _("Whichever you choose, {yes}.")
        else:
            said = _("Both lead to a yes.") if two else _("All of them lead to a yes.")
        return f"{said.format(yes=yes)} {_('Nothing else has to change.')}"

    @property
    def because(self) -> str:
        """Why it is asked, where that is worth reading; else empty."""
        if not np.isnan(self.gain):
            return ""
        return _(
            "As far as we know these take you about the same effort; your answer tells which you mind more."
        )

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The features in which the options' targets differ, in the order of the table, then the time where it differs.

        What follows from others, or is entailed, is left out; clocks go by themselves, and the time stands for them.
        """
        space = self.options[0].space
        now = space.values(self.options[0].path[0])
        targets = [space.values(option.done[-1]) for option in self.options]
        rows = []
        for feature in space.features:
            values = [target[feature.name] for target in targets]
            own = feature.is_set and feature.name not in self.entailed
            if not own or all(value == values[0] for value in values):
                continue
            shown = tuple(feature.show(value) for value in values)
            rows.append(Difference(feature.label, feature.show(now[feature.name]), shown))
        if self.times[0]:
            rows.append(Difference(_("When"), "", self.times))
        return tuple(rows)

    @cached_property
    def times(self) -> tuple[str, ...]:
        """When each option is done, "in 3 months" or "at once"; empty where it is the same for all."""
        months = [option.months for option in self.options]
        if len(set(months)) == 1:
            return ("",) * len(months)
        return tuple(map(in_time, months))

    @property
    def ready(self) -> tuple[str, ...]:
        """What the person could do when, for each option, as a sentence; empty where the time is the same for all.

        Of parts of plans only how long they take: nobody applies again after a part.
        """
        meaning = self.options[0].space.meaning if self.whole else Meaning()
        return tuple(
            self._done(meaning, option) if took else ""
            for option, took in zip(self.options, self.times, strict=True)
        )

    def _done(self, meaning: Meaning, option: Plan) -> str:
        """Return when an option is done; what both ask for takes its time, too, and so does waiting."""
        months, waiting = option.months, self._unclear(option) and _waits(option)
        if months and self.shared and not meaning.said("ready"):
            said = ngettext("All of it takes {n} month", "All of it takes {n} months", months).format(
                n=months
            )
        else:
            said = meaning.after(months)
        return _("{ready}; the rest of that time is waiting").format(ready=said) if waiting else said

    @cached_property
    def alike(self) -> frozenset[str]:
        """Features that every option changes in the same way."""
        first, *others = ({c.feature: c for c in option.changes} for option in self.options)
        return frozenset(name for name, c in first.items() if all(o.get(name) == c for o in others))

    @cached_property
    def shared(self) -> tuple[Change, ...]:
        """What every option asks for alike: no change of a deed by which the options differ, too.

        "Both include this: pay on time for 12 months. A: pay on time for 24 months" is no sentence for one deed.
        """
        space, changes = self.options[0].space, [option.changes for option in self.options]
        apart = {space.feature(c.feature).deed for own in changes for c in own if c.feature not in self.alike}
        whole = self.alike - self.entailed
        return tuple(
            c for c in changes[0] if c.feature in whole and space.feature(c.feature).deed not in apart - {""}
        )

    @property
    def also(self) -> str:
        """What every option asks for, and when it is done where that is the same, to stand above them; empty without either."""
        two = len(self.options) == 2
        both = (
            _("Both options include this: {changes}.") if two else _("All options include this: {changes}.")
        )
        slowest = {name: months for each in self.slowest for name, months in each.items()}
        asked = listed(map(lowered, sentences(self._doings(self.shared), slowest)))
        said = [both.format(changes=asked)] if asked else []
        months = self.options[0].months
        if months and not self.times[0]:
            meaning = self.options[0].space.meaning
            if not (self.whole and meaning.said("ready")):
                takes = _("Both take {time}.") if two else _("All of them take {time}.")
                if asked:
                    takes = (
                        _("Each option takes {time} in all.")
                        if two
                        else _("Each of them takes {time} in all.")
                    )
                said.append(takes.format(time=ngettext("{n} month", "{n} months", months).format(n=months)))
            else:
                ready = meaning.after(months)
                said.append(f"{ready}." if said else _("{ready}, whichever you choose.").format(ready=ready))
        return " ".join(said)

    @cached_property
    def slowest(self) -> tuple[Mapping[str, int], ...]:
        """Of each option what must say how long it takes, since another doing says a shorter time; else nothing."""
        return tuple(_slowest(o) if self._unclear(o) else {} for o in self.options)

    def _unclear(self, option: Plan) -> bool:
        own = (change for change in option.changes if change.feature not in self.entailed)
        return _unclear(option, self._doings(own))

    def _doings(self, changes: Iterable[Change]) -> list[list[Change]]:
        space = self.options[0].space
        return doings(changes, lambda name: space.feature(name).deed)

    @property
    def same_target(self) -> bool:
        """Whether the options lead to the same row, by different stages; only paths can."""
        return not self.differences

    def __str__(self) -> str:
        lines = [self.heading]
        if self.same_target:
            lines.append(_("All lead to the same result, by different stages:"))
            for name, option in zip(self.names, self.options, strict=True):
                lines.append(f"  {name}: " + " ".join(f"{step}." for step in option.steps))
            return "\n".join(lines)
        lines += filter(None, [self.also])
        each = zip(self.names, self.titles, self.apart, self.slowest, self.ready, strict=True)
        for place, (name, title, own, slowest, ready) in enumerate(each):
            asked = sentences(self._doings(own), slowest)
            asked = [lowered(said) if i else said for i, said in enumerate(asked)]
            said = [_("{change}, and").format(change=change) for change in asked[:-1]] + asked[-1:]
            if len(asked) > 2:  # one or two changes say themselves what they are; more have a name
                said.insert(0, title[:1].upper() + title[1:])
            said = said or [_("Nothing more")]
            brought = [str(c) for all_ in self.brought.values() if (c := all_[place]) is not None]
            said += [_("As a result: {changes}.").format(changes="; ".join(brought))] if brought else []
            said += filter(None, [ready])
            lines += [f"  {name if i == 0 else ' '}  {line}" for i, line in enumerate(said)]
        return "\n".join([*lines, *filter(None, (self.promise, self.because))])

    def _repr_html_(self) -> str:
        from reap._views import question_html

        return question_html(self)


def _distance(change: Change) -> float:
    """Return how far a number moves; any other level is equally far."""
    number = isinstance(change.after, int | float) and isinstance(change.before, int | float)
    return float(abs(change.after - change.before)) if number else 1.0


def _title(change: Change, compared: bool) -> str:
    """Return one change in a few words; with the value where another option changes the same feature."""
    said = compared and change.after_text not in change.title
    return f"{change.title} ({change.after_text})" if said else change.title


def read_choice(choice: int | str, count: int) -> int | str:
    """Return an answer to a question of ``count`` options as an index or one of the words; say what is allowed otherwise.

    Examples
    --------
    >>> read_choice("right", 2), read_choice("C", 4), read_choice("Same", 2)
    (1, 2, 'same')
    """
    if isinstance(choice, str):
        text = choice.strip().lower()
        if text in ("same", "neither", "skip"):
            return text
        if text in _WORDS and count == 2:
            return _WORDS[text]
        if len(text) == 1 and 0 <= ord(text) - ord("a") < count:
            return ord(text) - ord("a")
    elif not isinstance(choice, bool) and 0 <= int(choice) < count:
        return int(choice)
    letters = ", ".join(chr(ord("A") + i) for i in range(count))
    raise InputError(
        f'the answer {choice!r} is not one of {letters}, 0 to {count - 1}, "same", "neither", "skip"'
    )


# Times within an option: "apply for no credit for 4 months" while all of it takes 10. A person who reads both wonders where the
# other 6 come from. So what takes all of the time says it, "pay off the 4 cards, which takes 10 months", and stands first; the
# shorter doing goes on meanwhile. Where nothing that is done takes so long, the rest is waiting, and that is said.


def sentences(doings: Sequence[list[Change]], slowest: Mapping[str, int]) -> list[str]:
    """Return doings as sentences without full stops: what is ``slowest`` says its months and stands first, then the rest."""
    months = [max((slowest.get(change.feature, 0) for change in doing), default=0) for doing in doings]
    slow = [takes(doing, n) for doing, n in zip(doings, months, strict=True) if n]
    rest = [doing for doing, n in zip(doings, months, strict=True) if not n]
    return slow + [_meanwhile(doing) if slow else together(doing) for doing in rest]


def takes(doing: list[Change], months: int) -> str:
    """Return a doing with the time that it takes, unless it says that itself."""
    if _months_said(doing):
        return together(doing)
    time = ngettext("{n} month", "{n} months", months).format(n=months)
    return _("{change}, which takes {time}").format(change=together(doing), time=time)


def _meanwhile(doing: list[Change]) -> str:
    """Return a doing that goes on while another, longer one does; one that says no time needs no such word."""
    said = together(doing)
    return _("during that time, {change}").format(change=lowered(said)) if _months_said(doing) else said


def _unclear(plan: Plan, doings: Sequence[Sequence[Change]]) -> bool:
    """Return whether a doing says a time of its own that is not the time of all of the plan."""
    return any(said and said < plan.months for said in map(_months_said, doings))


def _months_said(doing: Sequence[Change]) -> int:
    """Return the months that the sentence of a doing mentions; 0 where it mentions none."""
    longest = max(doing, key=lambda change: change.months)
    return longest.months if longest.says_months else 0


def _slowest(plan: Plan) -> dict[str, int]:
    """Return the features whose change takes all of the plan's time, with its months; none where the person waits besides.

    What a rule asks for counts for the change that asks for it: whoever pays off the last card owes nothing any more.
    """
    if _waits(plan):
        return {}
    space, start, end = plan.space, plan.path[0], plan.done[-1]
    asker = space.legal.entailing(start, end[None])[0]
    slow = np.flatnonzero(space.legal.slowest(start, end[None])[0])
    return {space.features[asker[i] if asker[i] >= 0 else i].name: plan.months for i in slow}


def _waits(plan: Plan) -> bool:
    """Return whether a plan ends later than the last of its actions."""
    return max((change.months for change in plan.changes), default=0) < plan.months
