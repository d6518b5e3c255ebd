"""How hard a change is, on one scale: five words, for what a person says and for what we learn."""

from __future__ import annotations

import numpy as np

from reap._errors import InputError
from reap.belief.prior import DIFFICULTIES
from reap.language import N_

#: What each level is called, in English; ``_`` says it in the language in use.
WORDS = {
    1: N_("very easy"),
    2: N_("easy"),
    3: N_("neither easy nor hard"),
    4: N_("hard"),
    5: N_("very hard"),
}
#: What each level multiplies the effort of a feature by; 1 is the average of a person's features.
FACTORS = dict(enumerate(DIFFICULTIES.values(), start=1))


def check_level(level: int) -> None:
    """Refuse a level that there is not."""
    if level not in FACTORS:
        raise InputError(f"difficulty is {level!r}; give a level from 1 (very easy) to 5 (very hard)")


def level_of(factor: float) -> int:
    """Return the level whose factor is nearest, by ratio.

    Examples
    --------
    >>> [level_of(factor) for factor in (0.01, 0.5, 1.3, 2.0, 40.0)]
    [1, 2, 3, 4, 5]
    """
    apart = np.abs(np.log(list(FACTORS.values())) - np.log(max(factor, 1e-12)))
    return int(np.argmin(apart)) + 1
