"""What the name of a column suggests: a label, a unit, words that a careful lender would stop at. A guess, never a verdict."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Literal

from reap.space.feature import Feature


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the words in a name, in lower case.

    Examples
    --------
    >>> sorted(words_of("MSinceOldestTrade_open"))
    ['m', 'oldest', 'open', 'since', 'trade']
    """
    return frozenset(part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text))


#: Traits that the law or decency keeps out of advice.
PROTECTED = words_of(
    "age sex gender race ethnic ethnicity nationality religion marital married spouse husband wife divorced widowed "
    "disability disabled pregnant pregnancy foreign birth born birthday dob origin native citizenship citizen caste"
)
#: What has happened, belongs to others, or only names a row.
FIXED = words_of(
    "id uuid history ever dependents children kids mother father parents zip zipcode postcode postal country survey"
)
#: More of it is worse.
WORSE = words_of(
    "debt debts loan loans overdraft arrears delinquency delinquencies delinq delq overdue late default defaults "
    "inquiries inquiry inq burden utilization utilisation owed liabilities convictions priors absences losses loss"
)
#: Less of it is worse.
BETTER = words_of(
    "income salary wage wages earnings savings saving education assets wealth deposit deposits grade grades health "
    "employment qualification"
)
#: Around these a word of debt or wealth is about something else: the duration of a loan, the years since a default.
_ABOUT = words_of("duration term since time age rate purpose months years ago never satisfactory period type")
#: It goes by itself.
_PASSING = words_of("since tenure age ago seniority")


def _words(feature: Feature) -> frozenset[str]:
    return words_of(feature.name) | words_of(feature.label)


def protected(feature: Feature) -> bool:
    """Whether it looks like a protected trait."""
    return bool(_words(feature) & PROTECTED)


def happened(feature: Feature) -> bool:
    """Whether it looks like something nobody can change."""
    return bool(_words(feature) & FIXED)


def passing(feature: Feature) -> bool:
    """Whether it looks like a clock: the months since something, an age."""
    return feature.is_number and bool(_words(feature) & _PASSING)


def sense(feature: Feature) -> Literal["up", "down"] | None:
    """Return the direction that makes sense for a feature: "up" for income, "down" for debt; None where nothing is known.

    Examples
    --------
    >>> sense(Feature("monthly_income", range=(0, 1))), sense(Feature("loan_duration", range=(0, 1)))
    ('up', None)
    """
    words = _words(feature)
    if feature.kind == "categorical" or words & _ABOUT:
        return None
    worse, better = bool(words & WORSE), bool(words & BETTER)
    return None if worse == better else "down" if worse else "up"


#: Range and span differ by this much, or more, where a few extreme rows are worth a word.
_TENFOLD = 10


def long_tail(feature: Feature) -> str | None:
    """Return what a number was seen at beyond what effort is scaled by, as a clause; None where that is not far.

    Examples
    --------
    >>> long_tail(Feature("jobs", "integer", range=(0, 5000), span=(0, 30)))
    'was seen from 0 to 5,000, more than ten times the 0 to 30 that effort is scaled by: a few extreme rows; check them.'
    """
    if not feature.is_number or feature.range is None or feature.span is None:
        return None
    (low, high), (first, last) = feature.range, feature.span
    if high - low < _TENFOLD * feature.scale:
        return None
    seen = f"{feature.show(low, unit=False)} to {feature.show(high)}"
    scaled = f"{feature.show(first, unit=False)} to {feature.show(last)}"
    return f"was seen from {seen}, more than ten times the {scaled} that effort is scaled by: a few extreme rows; check them."


_UNITS = {
    **dict.fromkeys(("eur", "euro", "euros"), "€"),
    **dict.fromkeys(("usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("gbp", "pounds"), "£"),
    **dict.fromkeys(("pct", "percent", "percentage"), "%"),
    **{word: word.upper() for word in ("chf", "dm", "inr", "jpy", "brl", "cad", "aud")},
    **{word: word for word in ("months", "years", "days", "weeks", "hours", "km")},
}


def unit_of(words: Collection[str]) -> str:
    """Return the unit among the words of a name; "" where there is none.

    Examples
    --------
    >>> unit_of(["income", "eur"])
    '€'
    """
    return next((unit for word, unit in _UNITS.items() if word in words), "")


def label_of(name: str) -> str:
    """Return a name as people write it.

    Examples
    --------
    >>> label_of("annual_income_eur"), label_of("customerID")
    ('Annual income', 'Customer ID')
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    while len(parts) > 1 and parts[-1].lower() in _UNITS:
        parts.pop()
    text = " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)
    return text[:1].upper() + text[1:] or name


#: Levels that tell a trait whose column has another name: "personal status: married or divorced woman".
_PEOPLE = (PROTECTED | words_of("man woman male female")) - {"age"}


def doubtful(features: Iterable[Feature]) -> list[Feature]:
    """Return the features that look like a trait the law may keep out of a decision, by names and levels.

    Examples
    --------
    >>> import reap
    >>> [f.label for f in doubtful(reap.datasets.load("german").space.features)]
    ['Personal status', 'Age']
    """
    return [feature for feature in features if _doubtful(feature)]


def _doubtful(feature: Feature) -> bool:
    for name in (feature.name, feature.label):
        said = words_of(name)
        # The age of an account is not a person's.
        if said & PROTECTED - {"age"} or said == {"age"}:
            return True
    return any(words_of(str(level)) & _PEOPLE for level in feature.levels)
