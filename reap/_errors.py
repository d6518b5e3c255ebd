"""The one error a user can cause, and the one warning."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Integral
from typing import Any

#: Characters of a sentence that people still read; a file from outside may quote itself at any length.
_LONGEST = 1000


class InputError(ValueError):
    """Bad input: says what was given, what is allowed, and what to do, in one sentence.

    Examples
    --------
    >>> len(str(InputError("the value is " + 5000 * "x" + "; give a number")))
    1000
    """

    def __init__(self, sentence: object = "") -> None:
        said = str(sentence)
        if len(said) > _LONGEST:  # what was given stands first, what to do last
            said = said[: _LONGEST // 2 - 2] + " … " + said[-(_LONGEST // 2 - 1) :]
        super().__init__(said)


class InputWarning(UserWarning):
    """Input that can be worked with, but is rarely meant: says in one sentence what was given and what to do.

    Who means it says ``warnings.filterwarnings("ignore", category=reap.InputWarning)``.
    """


def said(value: Any) -> str:
    """Return a value as a sentence quotes it: NumPy's numbers as plain ones.

    Examples
    --------
    >>> import numpy as np
    >>> said(np.float64(1.0)), said("yes")
    ('1.0', "'yes'")
    """
    return repr(getattr(value, "item", lambda: value)())


def whole(name: str, given: Any, least: int = 1) -> int | None:
    """Return a whole number that is large enough, or None; anything else is an error.

    Examples
    --------
    >>> whole("max_changes", 2.5)
    Traceback (most recent call last):
    ...
    reap._errors.InputError: max_changes is 2.5; give a whole number of at least 1
    """
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        raise InputError(f"{name} is {given!r}; give a whole number of at least {least}")
    return int(given)


def unknown(what: str, given: object, allowed: Iterable[object]) -> InputError:
    """Return the error for a name that does not exist, with the nearest one that does.

    Examples
    --------
    >>> print(unknown("feature", "incme", ["income", "age"]))
    there is no feature 'incme'; did you mean 'income'? There are: income, age
    """
    names = [str(name) for name in allowed]
    near = difflib.get_close_matches(str(given), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    return InputError(f"there is no {what} {given!r}{hint} There are: {listed}")
