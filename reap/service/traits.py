"""Traits among what is scored that the law may keep out of a decision.

The operator reads of them, and so does whoever is refused for one. A guess by names and levels, never a verdict: see
docs/compliance.md.
"""

from __future__ import annotations

from reap.space import ActionSpace, Feature
from reap.space.vocabulary import PROTECTED, words_of

#: Levels that tell a trait whose column has another name: "personal status: married or divorced woman".
_PEOPLE = (PROTECTED | words_of("man woman male female")) - {"age"}


def doubtful(space: ActionSpace) -> list[Feature]:
    """Return the features that look like a trait the law protects.

    Examples
    --------
    >>> import reap
    >>> [f.label for f in doubtful(reap.datasets.load("german").space)]
    ['Personal status', 'Age']
    """
    return [feature for feature in space.features if _doubtful(feature)]


def _doubtful(feature: Feature) -> bool:
    for name in (feature.name, feature.label):
        said = words_of(name)
        # The age of an account is not a person's.
        if said & PROTECTED - {"age"} or said == {"age"}:
            return True
    return any(words_of(str(level)) & _PEOPLE for level in feature.levels)
