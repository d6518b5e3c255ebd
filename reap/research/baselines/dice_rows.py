"""dice-ml's side of things: the package, kept silent, and our vectors as the rows it wants."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Array, Frame
from reap.space import ActionSpace

#: Decimals of encoded numbers.
DIGITS = 3


class DiceRows:
    """Vectors as dice-ml's rows, in columns f0, f1, …: numbers as they are, a category as the name of its level.

    Examples
    --------
    >>> space = ActionSpace.from_frame(pd.DataFrame({"pay": [1, 2, 3], "job": ["cook", "nurse", "smith"]}))
    >>> rows = DiceRows(space).frame(np.array([[0.5, 0.0, 1.0, 0.0]]))
    >>> rows.to_dict("list")
    {'f0': [0.5], 'f1': ['l001']}
    >>> DiceRows(space).vectors(rows)
    array([[0.5, 0. , 1. , 0. ]])
    """

    def __init__(self, space: ActionSpace) -> None:
        self.dimension = space.dimension
        self.blocks = [space.slices[feature.name] for feature in space.features]

    def frame(self, Z: Array) -> Frame:
        """Return vectors (n, d) as rows."""
        columns: dict[str, Any] = {}
        for i, place in enumerate(self.blocks):
            block = Z[:, place]
            wide = block.shape[1] > 1
            columns[f"f{i}"] = (
                [f"l{k:03d}" for k in block.argmax(axis=1)] if wide else block[:, 0].round(DIGITS)
            )
        return pd.DataFrame(columns)

    def vectors(self, frame: Frame) -> Array:
        """Return rows as vectors (n, d)."""
        Z = np.zeros((len(frame), self.dimension))
        for i, place in enumerate(self.blocks):
            if place.stop - place.start > 1:
                levels = frame[f"f{i}"].astype(str).str.removeprefix("l").astype(int).to_numpy()
                Z[np.arange(len(frame)), place.start + levels] = 1.0
            else:
                Z[:, place.start] = frame[f"f{i}"].astype(float)
        return Z

    def corners(self) -> Frame:
        """Return rows in which every level occurs and every number is 0 and 1."""
        widths = [place.stop - place.start for place in self.blocks]
        rows = np.arange(max(*widths, 2))
        Z = np.zeros((len(rows), self.dimension))
        for place, width in zip(self.blocks, widths, strict=True):
            if width > 1:
                Z[rows, place.start + rows % width] = 1.0
            else:
                Z[:, place.start] = rows % 2
        return self.frame(Z)


def package() -> Any:
    """Return dice-ml, or say what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import dice_ml
    except ImportError:
        raise InputError(
            "DiCE needs the package dice-ml; install it with: pip install 'reap-recourse[baselines]'"
        ) from None
    return dice_ml


@contextlib.contextmanager
def silence(seed: int) -> Any:
    """Let dice-ml neither print nor warn, and draw its numbers, which it takes from global streams, from a seed."""
    kept, numpy_kept = random.getstate(), np.random.get_state()  # noqa: NPY002
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(kept)
            np.random.set_state(numpy_kept)  # noqa: NPY002
