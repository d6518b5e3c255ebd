"""A learnt prior as a file, and back: the same prior, the same bytes, and nothing that was changed by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError
from reap._formats import Format

if TYPE_CHECKING:
    from reap.belief.learned_prior import LearnedPrior

_FORMAT = Format(
    "prior", "reap.prior", 2, "a file that `reap learn` wrote", "; learn it again with `reap learn`"
)
#: Fields of a prior that are tuples of numbers.
TUPLES = ("kinds", "kinds_sd", "minders", "minders_sd", "weights", "weights_sd")


def _said(prior: LearnedPrior) -> dict[str, Any]:
    return {each.name: _plain(getattr(prior, each.name)) for each in fields(prior)}


def digest(prior: LearnedPrior) -> str:
    """Return the sha256 of all that a prior says."""
    return hashlib.sha256(_compact(_said(prior)).encode()).hexdigest()


def write(prior: LearnedPrior) -> str:
    """Return a prior as JSON, a field a line."""
    data = {**_FORMAT.head, **_said(prior), "hash": prior.hash}
    lines = (f"  {json.dumps(key)}: {_compact(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(kind: type[LearnedPrior], text: str) -> LearnedPrior:
    """Undo ``write``, or say why the text is refused."""
    data = _FORMAT.load(text)
    _FORMAT.check(data)
    try:
        said = {each.name: data[each.name] for each in fields(kind)}
        said |= {name: tuple(said[name]) for name in ("columns", "names", *TUPLES)}
        with np.errstate(all="ignore"):
            prior = kind(**said)
        changed = prior.hash != data.get("hash")
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"the prior is damaged: {error}; learn it again with `reap learn`") from None
    if changed:
        raise InputError("the prior was changed after it was learnt; learn it again with `reap learn`")
    return prior


def _plain(value: Any) -> Any:
    """Return a field as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
