"""The one error a user can cause."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input: says what was given, what is allowed, and what to do, in one sentence."""


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
