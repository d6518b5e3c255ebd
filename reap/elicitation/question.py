"""A question: plans side by side, only what differs, in verbs and units."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from reap.elicitation import lasting
from reap.language import _, listed, ngettext
from reap.plan import Plan
from reap.space import Change
from reap.space.deeds import doings
from reap.space.meaning import Meaning, in_time
from reap.space.words import lowered

Kind = Literal["warm-up", "question", "second look", "held-out"]


@dataclass(frozen=True)
class Difference:
    """One feature in which the options differ: its value now, and in each option with the signed change."""

    label: str
    now: str
    values: tuple[str, ...]
    signed: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """Which of these plans would be easiest for you?

    Parameters
    ----------
    id : str
        Names this question in this session.
    number : int
        1 for the first; a warm-up has the number of the question after it.
    options : tuple of Plan
    why : str
        One sentence on why it is asked.
    gain : float
        Share of the expected effort that the answer is expected to save; NaN where the strategy does not say.
    kind : {"question", "warm-up", "second look", "held-out"}
        A warm-up teaches nothing. A second look compares two plans once more, because the first answer was not expected.
        The held-out question comes last; what will be answered was predicted.
    predicted : int, optional
        The option that we expect to be chosen; of a held-out question only.
    probability : float, optional
        How likely we think that is.
    whole : bool
        Whether each option leads to a yes by itself; otherwise they are parts of plans.
    earlier : int, optional
        The option that was chosen when these were compared before; of a second look only.
    """

    id: str
    number: int
    options: tuple[Plan, ...] = field(repr=False)
    why: str = ""
    gain: float = float("nan")
    kind: Kind = "question"
    predicted: int | None = None
    probability: float | None = None
    whole: bool = True
    earlier: int | None = None

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
        by_rule = space.entailed(start, np.stack([option.path[-1] for option in self.options]))
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
    def heading(self) -> str:
        """What is asked, and what the answer is for."""
        if self.kind == "warm-up":
            return _("A warm-up, which does not count. Which would be easier for you?")
        if self.kind == "held-out":
            return _("One last question. We have predicted your answer. Which would be easier for you?")
        if self.kind == "second look":
            return _("Question {number}, a second look. Which would be easier for you?").format(
                number=self.number
            )
        if len(self.options) == 2:
            return _("Question {number}. Which would be easier for you?").format(number=self.number)
        return _("Question {number}. Which would be easiest for you?").format(number=self.number)

    @property
    def promise(self) -> str:
        """What all options come to: that they lead to a yes and ask for nothing else, or that they are parts of plans."""
        two, yes = len(self.options) == 2, self.options[0].space.yes
        if not self.whole:
            return _("These are only steps. More may be needed for a yes.")
        if yes:
            said = _("Either way, {yes}.") if two else _("Whichever you choose, {yes}.")
        else:
            said = _("Both lead to a yes.") if two else _("All of them lead to a yes.")
        return f"{said.format(yes=yes)} {_('Nothing else has to change.')}"

    @property
    def because(self) -> str:
        """Why it is asked, in the language in use; ``why`` is what was said when it was asked."""
        if self.earlier is not None:
            said = _(
                "You were asked this before and chose {option}. We ask once more to be sure: keep your answer or change it."
            )
            return said.format(option=self.names[self.earlier])
        return why(self.gain) if self.why else ""

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The features in which the options' targets differ, in the order of the table, then the time where it differs.

        What follows from others, or is entailed, is left out; clocks go by themselves, and the time stands for them.
        """
        space = self.options[0].space
        now = space.values(self.options[0].path[0])
        targets = [space.values(option.path[-1]) for option in self.options]
        rows = []
        for feature in space.features:
            values = [target[feature.name] for target in targets]
            own = feature.derived is None and feature.clock is None and feature.name not in self.entailed
            if not own or all(value == values[0] for value in values):
                continue
            before = now[feature.name]
            signed = [
                "no change"
                if value == before
                else Change.of(feature, before, value).signed
                if feature.is_number
                else "changed"
                for value in values
            ]
            shown = tuple(feature.show(value) for value in values)
            rows.append(Difference(feature.label, feature.show(before), shown, tuple(signed)))
        if self.times[0]:
            rows.append(Difference(_("When"), "", self.times, ("",) * len(self.times)))
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
        months, waiting = option.months, self._unclear(option) and lasting.waits(option)
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
        asked = listed(map(lowered, lasting.sentences(self._doings(self.shared), slowest)))
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
        return tuple(lasting.slowest(o) if self._unclear(o) else {} for o in self.options)

    def _unclear(self, option: Plan) -> bool:
        own = (change for change in option.changes if change.feature not in self.entailed)
        return lasting.unclear(option, self._doings(own))

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
        for name, title, own, slowest, ready in each:
            asked = lasting.sentences(self._doings(own), slowest)
            asked = [lowered(said) if i else said for i, said in enumerate(asked)]
            said = [_("{change}, and").format(change=change) for change in asked[:-1]] + asked[-1:]
            if len(asked) > 2:  # one or two changes say themselves what they are; more have a name
                said.insert(0, title[:1].upper() + title[1:])
            said = said or [_("Nothing more")]
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


def why(gain: float) -> str:
    """Return one sentence on why a question is asked that is expected to save a share of the effort (NaN: unknown)."""
    if np.isnan(gain):
        return _(
            "As far as we know these take you about the same effort; your answer tells which you mind more."
        )
    return _("Your answer helps us find the plan that suits you.")
