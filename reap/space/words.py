"""Changes, doings, decisions and spaces in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.language import LANGUAGES, _, current, listed, ngettext, number
from reap.space.feature import Counted, Feature, united
from reap.space.rules import SAME, LinearRule, RatioRule
from reap.space.time import whole_months

if TYPE_CHECKING:
    from reap.space.space import ActionSpace


@dataclass(frozen=True)
class Change:
    """One feature's change, in units and in words.

    Examples
    --------
    >>> loan = Feature("amount", "integer", range=(0, 20000), label="Loan amount", unit="DM")
    >>> change = Change.of(loan, 5951, 3200)
    >>> print(change)
    Reduce loan amount from 5,951 to 3,200 DM
    >>> change.signed, change.title
    ('−2,751 DM', 'lower loan amount')
    """

    feature: str
    label: str
    unit: str
    before: Any
    after: Any
    text: str
    signed: str
    before_text: str
    after_text: str
    title: str
    months: int = 0
    says_months: bool = False

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, feature: Feature, before: Any, after: Any, brought: bool = False) -> Change:
        """Return the change of one feature between two values in units; ``brought``: that others bring, about as far as that."""
        rises = _rises(feature, before, after)
        old, new = feature.show(before), feature.show(after)
        signed = f"{old} → {new}"
        if feature.is_number and before is not None and after is not None:
            signed = ("+" if rises else "−") + feature.show(abs(after - before))
        return cls(
            feature=feature.name,
            label=feature.label,
            unit=feature.unit,
            before=before,
            after=after,
            text=_brought(feature, after) if brought else _sentence(feature, before, after, rises),
            signed=signed,
            before_text=old,
            after_text=new,
            title=_title(feature, after, rises, known=None not in (before, after)),
            months=_months(feature, before, after),
            says_months="{months" in (feature.phrase(rises, after) or ""),
        )


def _rises(feature: Feature, before: Any, after: Any) -> bool:
    if before is None or after is None:
        return False
    if feature.is_number:
        return bool(after > before)
    return feature.levels.index(after) > feature.levels.index(before)


def _title(feature: Feature, after: Any, rises: bool, known: bool) -> str:
    """Return a change in a few words, without its numbers; of a value that was not ``known``, what it becomes."""
    label, new = lowered(feature.label), feature.show(after)
    if known and (named := feature.named(rises, after)):
        return named
    if not (known and feature.is_number):
        return label if label.lower() == new.lower() else f"{label}: {new}"  # not "guarantor: guarantor"
    return (_("higher {label}") if rises else _("lower {label}")).format(label=label)


def _sentence(feature: Feature, before: Any, after: Any, rises: bool) -> str:
    before = _rounded(feature, before, after)
    old, new = feature.show(before, unit=False), feature.show(after, unit=False)
    phrase = feature.phrase(rises, after)
    unit = united("", feature.unit, float(after)) if feature.is_number and after is not None else ""
    if phrase:
        by = abs(after - before) if feature.is_number and None not in (before, after) else None
        return phrase.format(
            before=Counted(old, before),
            after=Counted(new, after),
            unit=unit.strip(),
            by=Counted("" if by is None else feature.show(by, unit=False), by),
            months=Counted(str(months := _months(feature, before, after)), months),
        )
    old_new = {"label": feature.label, "old": old, "new": f"{new}{unit}"}
    if feature.clock is not None:
        return _("{label} goes from {old} to {new} with time").format(**old_new)
    if feature.derived is not None:  # nobody does this; it follows from the rest of the advice
        said = (
            _("{label} rises from {old} to {new} as a result")
            if rises
            else _("{label} falls from {old} to {new} as a result")
        )
        return said.format(**old_new)
    old_new["label"] = lowered(feature.label)
    if feature.is_number:
        said = _("Increase {label} from {old} to {new}") if rises else _("Reduce {label} from {old} to {new}")
    elif feature.kind == "ordinal":
        said = (
            _("Raise {label} from “{old}” to “{new}”")
            if rises
            else _("Lower {label} from “{old}” to “{new}”")
        )
    else:
        said = _("Change {label} from “{old}” to “{new}”")
    return said.format(**old_new)


def _brought(feature: Feature, after: Any) -> str:
    """Return where others bring a feature, at the steps in which people are told of it."""
    if after is not None and feature.step is not None:
        after = round(round(after / feature.step) * feature.step, feature.decimals)
    said = _("{label} would then be about {new}")
    return said.format(label=feature.label, new=feature.show(after))


def _months(feature: Feature, before: Any, after: Any) -> int:
    """Return the whole months that a change takes at the feature's pace; 0 without one."""
    if feature.pace is None or None in (before, after):
        return 0
    old, new = (before, after) if feature.is_number else map(feature.levels.index, (before, after))
    return whole_months(feature, float(abs(new - old)))


def _rounded(feature: Feature, before: Any, after: Any) -> Any:
    """Return where a number stands as exactly as it is advised, "70" and not "70.21 to 41 %", unless that is the same."""
    if not feature.is_number or feature.decimals is None or None in (before, after):
        return before
    near = round(float(before), feature.decimals)
    return before if near == round(float(after), feature.decimals) else near


def doubt(feature: Feature, value: Any) -> str | None:
    """Return the question to ask back about one value in units; None where it is within what was seen.

    Examples
    --------
    >>> doubt(Feature("age", "integer", range=(19, 75), label="Age", unit="years"), 150)
    'Age is 150 years? Usually it runs from 19 to 75 years.'
    """
    if feature.range is None or value is None or feature.derived is not None:
        return None
    low, high = feature.range
    slack = SAME * feature.scale
    if low - slack <= value <= high + slack:
        return None
    said = _("{label} is {value}? Usually it runs from {low} to {high}.")
    return said.format(
        label=feature.label,
        value=feature.show(value),
        low=feature.show(low, unit=False),
        high=feature.show(high),
    )


#: What a German sentence may begin with that is no noun; "Ihr" and "Sie" have their capitals everywhere.
_NO_NOUN = re.compile(
    "(Alle|Das|Dem|Den|Der|Die|Eine?[mnr]?|Jemanden|Keine?n?|Wer|Am|An|Auf|Aus|Beim?|Bis|Für|Im|In|Mit|Nach|Über|Unter|Vo[mn]|Vor"
    "|Zu[mr]?|Höchstens|Mehr|Mindestens|Neue[rs]?|Nicht|Noch|Nur|Weniger)"
)


def lowered(label: str) -> str:
    """Return a label for the middle of a sentence; abbreviations keep their capitals, and German nouns theirs.

    Examples
    --------
    >>> lowered("Loan amount"), lowered("FICO score")
    ('loan amount', 'FICO score')
    """
    first = label.split(" ", 1)[0]
    if current() == "de" and not _NO_NOUN.fullmatch(first):
        return label
    return label if len(first) > 1 and first[1:] != first[1:].lower() else label[:1].lower() + label[1:]


def table(space: ActionSpace) -> str:
    """Return a space as a table in plain words: a line a feature, then rules and limits."""
    title = space.title or "Action space"
    lines = [f"{title}: {len(space.features)} features, {space.dimension} encoded columns"]
    width = max(len(feature.label) for feature in space.features)
    lines += [f"  {feature.label:<{width}}  {feature.describe()}" for feature in space.features]
    rules = list(dict.fromkeys(f"{'always ' * isinstance(r, LinearRule)}{r.text}" for r in space.legal.rules))
    if space.max_changes is not None:
        rules.append(f"at most {space.max_changes} feature{'s' if space.max_changes != 1 else ''} may change")
    if space.timed:
        rules.append(f"plans are done within {space.horizon} months")
    lines += [f"  Rule: {rule}" for rule in rules]
    lines += [f"  Limit: {text}" for text in space.legal.limits.describe(space.features)]
    return "\n".join(lines)


# one doing, said once ---------------------------------------------------------------------------------


def sentences(changes: Iterable[Change], deed: Callable[[str], str]) -> list[str]:
    """Return changes as sentences without full stops, one for all that have the same deed.

    Whoever pays on time for a year makes up for late payments of every kind. Features with the same ``deed`` have phrases that
    say first what is done, then in brackets what that brings: "Pay all bills on time for 12 months (to make up for …)". Side
    by side they are one sentence, with the longest time and everything it brings.

    Parameters
    ----------
    changes : iterable of Change
    deed : callable
        What one does about a feature, by its name; empty for what stands alone.

    Examples
    --------
    >>> from reap.space import Feature
    >>> phrase = {"down": "Pay on time for {months:month|months} (to make up for {by:delay|delays})"}
    >>> late = Feature("late", "integer", range=(0, 9), pace="1 every 12 months", deed="pay", phrases=phrase)
    >>> sentences([Change.of(late, 2, 1), Change.of(late, 3, 1)], lambda name: "pay")
    ['Pay on time for 24 months (to make up for 1 delay and 2 delays)']
    """
    return [together(doing) for doing in doings(changes, deed)]


def doings(changes: Iterable[Change], deed: Callable[[str], str]) -> list[list[Change]]:
    """Return what a person does: changes, those that have the same deed together."""
    done: dict[str, list[Change]] = {}
    for change in changes:
        done.setdefault(deed(change.feature) or f"\0{change.feature}", []).append(change)
    return list(done.values())


def together(changes: list[Change]) -> str:
    """Return one doing as a sentence without a full stop."""
    parts = [str(change).removesuffix(")").partition(" (") for change in changes]
    longest = max(range(len(changes)), key=lambda i: changes[i].months)
    brought = [brings for _, _, brings in parts if brings]
    return (
        f"{parts[longest][0]} ({_at_once(brought)})"
        if brought and len(changes) > 1
        else str(changes[longest])
    )


def _at_once(brought: list[str]) -> str:
    """Return what is brought about, the words with which all begin said once, but for numbers: these are not the same ones."""
    words = [brings.split(" ") for brings in brought]
    alike = takewhile(
        lambda each: len(set(each)) == 1 and not any(map(str.isdigit, each[0])), zip(*words, strict=False)
    )
    same = min(len(list(alike)), min(map(len, words)) - 1)
    return listed([brought[0], *(" ".join(each[same:]) for each in words[1:])])


# what is decided --------------------------------------------------------------------------------------

WORDS = ("about", "yes", "ready", "ratio")


@dataclass(frozen=True)
class Meaning:
    """The words for a decision: who the person is, what they applied for, and what a yes means.

    They are said in the language in use where it has some. In a file they stand under ``[space]``, in other languages in a
    table beside it::

        [space]
        about = "You asked a bank for a loan, and it said no."
        yes = "the bank’s computer would say yes today"
        ready = "Ask the bank again {time}"

        [space.de]
        title = "Kredit in Deutschland"
        yes = "würde Ihnen die Bank den Kredit geben"

    Parameters
    ----------
    about : str
        A sentence or two to the person: who they are, what they applied for.
    yes : str
        What a yes means, as a clause without a full stop: "the bank’s computer would say yes today". Something stands before it
        ("either way"), so that in German it begins with its verb.
    ready : str
        What the person does once all is done, in a few words without a full stop, with ``{time}`` ("in 3 months", "at
        once") where the time stands: "Ask the bank again {time}".
    ratio : str
        What a rule such as "amount / duration rises by at most 25 %" keeps within bounds, as a sentence with ``{before}`` and
        ``{after}``: "You would repay about {after} DM a month instead of {before}."
    translations : mapping of language to words
        The same words, and the ``title`` of the space.

    Examples
    --------
    >>> from reap.language import speaking
    >>> loan = Meaning(yes="you would get the loan", translations={"es": {"yes": "obtendría el préstamo"}})
    >>> with speaking("es"):
    ...     print(loan.said("yes"))
    obtendría el préstamo
    """

    about: str = ""
    yes: str = ""
    ready: str = ""
    ratio: str = ""
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("[space]", {word: getattr(self, word) for word in WORDS}, WORDS)
        for language, words in self.translations.items():
            if language not in LANGUAGES:
                raise unknown("language of [space]", language, LANGUAGES)
            _check(f"[space.{language}]", words, ("title", *WORDS))

    def said(self, word: str) -> str:
        """Return "about", "yes" or "ready" in the language in use, else as the file has it; empty where it says nothing."""
        own: str = getattr(self, word)
        return self.translations.get(current(), {}).get(word, own)

    def after(self, months: int) -> str:
        """Return what the person does after so many months; where the space does not say, how long that takes.

        Examples
        --------
        >>> Meaning(ready="Ask the bank again {time}").after(3), Meaning().after(1)
        ('Ask the bank again in 3 months', 'This takes 1 month')
        """
        if said := self.said("ready"):
            return said.replace("{time}", in_time(months))
        if not months:
            return _("This can be done at once")
        return ngettext("This takes {n} month", "This takes {n} months", months).format(n=months)


def ratios(space: ActionSpace, before: Array, after: Array) -> list[str]:
    """Return a sentence on each ratio that a rule of the space keeps within bounds and a change moves, (d,) to (d,)."""
    said = space.meaning.said("ratio")
    if not said:
        return []
    codes, out = space.encoding.codes_of(np.stack([before, after])), []
    for rule in space.legal.rules:
        if isinstance(rule, RatioRule):
            old, new = (float(row[rule.top] / row[rule.bottom]) for row in codes)
            if abs(new - old) > 0.005 * abs(old):
                out.append(said.format(before=_rough(old), after=_rough(new)))
    return out


def _rough(value: float) -> str:
    """Return a number without more digits than people say."""
    return number(float(f"{value:.3g}"), 0 if abs(value) >= 10 else 2)


def in_time(months: int) -> str:
    """Return "in 3 months", or "at once"."""
    return ngettext("in {n} month", "in {n} months", months).format(n=months) if months else _("at once")


def _check(where: str, words: object, known: Sequence[str]) -> None:
    if not isinstance(words, Mapping):
        raise InputError(f"{where} is {words!r}; it must be a table")
    for word, said in words.items():
        if word not in known:
            raise unknown(f"word in {where}", word, known)
        if not isinstance(said, str):
            raise InputError(f"{word} in {where} is {said!r}; it must be text")
        if word == "ratio" and said and not ("{before}" in said and "{after}" in said):
            raise InputError(f"ratio in {where} is {said!r}; say the two values by {{before}} and {{after}}")
        if word == "ready" and said and said.count("{time}") != 1:
            raise InputError(f"ready in {where} is {said!r}; say where the time stands, once, by {{time}}")
