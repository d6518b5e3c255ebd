"""Answers that real people gave, five data sets in one form.

A question shows k options, each as a change ``δ ≥ 0`` (d,) from a point of no effort: the best value of every column among
all that this person was shown, in units of the mean difference within a question. Less is better in every column. ``read``
reads a set from the folder ``choices`` in ``REAP_DATA``; the files have terms of their own and are in no package.

The people of a set fall into two halves by a hash of their number: settings are chosen on the first ("choosing"), and what was
chosen is reported on the second ("reported"). The order of a person's answers is shuffled by the same hash.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy.io import loadmat

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints
from reap.datasets.catalogue import FOLDER

Half = Literal["choosing", "reported"]
#: Numbers of answers after which people are predicted.
SEEN = (0, 1, 3, 5, 8, 12)
#: Orders of a person's answers that are replayed: more where people are few.
ORDERS = {"trains": 3, "electricity": 2, "swissmetro": 1, "kidney": 4, "colours": 4}
#: Questions of one person that are replayed at most: the colours have 1,332.
_MOST = 52
#: The file of each set.
FILES = {
    "trains": "train_data.csv.gz",
    "electricity": "electricity.csv.gz",
    "swissmetro": "swissmetro.csv.gz",
    "kidney": "kidney_study1.csv",
    "colours": "colours.mat",
}
#: Who was asked: their number, values (q, k, d) of which less is better, which options were on offer (q, k), answers (q, k).
_Raw = tuple[object, Array, Bools, Array]


@dataclass(frozen=True, eq=False)
class Respondent:
    """One person's answers in one order.

    Parameters
    ----------
    name : str
    changes : (q, k, d) array
        Of q questions the k options, 0 where there are fewer.
    offered : (q, k) array
        Which options there are.
    answers : (q, k) array
        1 at the chosen option; ½ at each of two that were called the same.
    seen : tuple of int
        After how many answers this person is predicted.
    held_out : (t,) array
        Questions that are predicted: after the last that is learnt from, and decided.
    """

    name: str
    changes: Array
    offered: Bools
    answers: Array
    seen: tuple[int, ...]
    held_out: Ints

    def question(self, i: int) -> tuple[list[Array], int | None]:
        """Return the options of a question, and which of them was chosen; None: they are about the same."""
        options, told = self.changes[i][self.offered[i]], self.answers[i][self.offered[i]]
        return list(options), int(told.argmax()) if told.max() == 1 else None


def folder() -> Path:
    """Return the folder of the answers."""
    return Path(os.environ.get(FOLDER, "")) / "choices"


def missing() -> list[str]:
    """Return the names of the sets whose files are not here."""
    return [name for name, file in FILES.items() if not (folder() / file).exists()]


def read(name: str, half: Half, *, order: int = 0, limit: int | None = None) -> list[Respondent]:
    """Return the people of one half of a set, their answers in one of several orders.

    Parameters
    ----------
    name : {"trains", "electricity", "swissmetro", "kidney", "colours"}
    half : {"choosing", "reported"}
    order : int
        Which order.
    limit : int, optional
        The first so many people.
    """
    if name not in FILES:
        raise unknown("set of answers", name, FILES)
    if name in missing():
        raise InputError(f"the answers {name!r} are not here; put {FILES[name]} into {folder()}")
    raw = list(_READERS[name](folder() / FILES[name]))
    scale = _units(raw)
    found: list[Respondent] = []
    for person, values, offered, answers in raw:
        number = int(hashlib.md5(f"{name}-{person}".encode(), usedforsecurity=False).hexdigest()[:12], 16)
        if number % 2 != (half == "reported"):
            continue
        best = np.where(offered[..., None], values, np.inf).min(axis=(0, 1))
        changes = np.where(offered[..., None], (values - best) / scale, 0.0)
        shuffled = np.random.default_rng([number, order]).permutation(len(changes))
        if name == "trains":  # a trip that is as good in everything is never asked about
            shuffled = shuffled[[_open(changes[i]) for i in shuffled]]
        shuffled = shuffled[:_MOST]
        made = _respondent(f"{name}-{person}", changes[shuffled], offered[shuffled], answers[shuffled])
        found += [made] if made is not None else []
    return found[:limit]


def _respondent(name: str, changes: Array, offered: Bools, answers: Array) -> Respondent | None:
    """Return a person; None where too few answers are left to predict."""
    seen = tuple(k for k in SEEN if len(changes) - k >= 3)
    if not seen:
        return None
    later = np.arange(seen[-1], len(changes))
    held_out = later[answers[later].max(axis=1) == 1]
    return Respondent(name, changes, offered, answers, seen, held_out) if len(held_out) else None


def _units(raw: list[_Raw]) -> Array:
    """Return the mean difference (d,) of the options of a question in each column, where there is one."""
    spread = np.concatenate(
        [
            np.where(offered[..., None], values, -np.inf).max(axis=1)
            - np.where(offered[..., None], values, np.inf).min(axis=1)
            for _, values, offered, _ in raw
        ]
    )
    return np.array([column[column > 0].mean() for column in spread.T])


def _open(options: Array) -> bool:
    """Return whether each of two options is better in something."""
    return bool((options[0] < options[1]).any() and (options[1] < options[0]).any())


def _trains(path: Path) -> Iterator[_Raw]:
    names = ("price", "time", "change", "comfort")
    for person, part in pd.read_csv(path).groupby("id"):
        values = np.stack([part[[name + side for name in names]].to_numpy(float) for side in "12"], axis=1)
        first = (part["choice"] == "choice1").to_numpy(float)
        yield person, values, np.ones(values.shape[:2], bool), np.stack([first, 1 - first], axis=1)


def _electricity(path: Path) -> Iterator[_Raw]:
    frame = pd.read_csv(path)
    # by time of day 11 and 5 cents, by season 10, 8, 6 and 6 (Revelt and Train): their means stand for the price
    frame["price"] = frame["pf"] + 8.0 * frame["tod"] + 7.5 * frame["seas"]
    frame["far"], frame["unknown"] = 1 - frame["loc"], 1 - frame["wk"]
    columns = ["price", "cl", "far", "unknown", "tod", "seas"]
    for person, part in frame.sort_values(["chid", "alt"]).groupby("id"):
        values = part[columns].to_numpy(float).reshape(-1, 4, len(columns))
        yield person, values, np.ones(values.shape[:2], bool), part["choice"].to_numpy(float).reshape(-1, 4)


def _swissmetro(path: Path) -> Iterator[_Raw]:
    frame = pd.read_csv(path)
    for person, part in frame[frame["CHOICE"] > 0].groupby("ID"):
        paid = 1.0 - part["GA"].to_numpy(float)  # a season ticket: no further cost
        values = np.zeros((len(part), 3, 6))
        for j, mode in enumerate(("TRAIN", "SM", "CAR")):
            values[:, j, 0] = part[f"{mode}_TT"]
            values[:, j, 1] = part[f"{mode}_CO"] * (paid if mode != "CAR" else 1.0)
            values[:, j, 2] = part[f"{mode}_HE"] if mode != "CAR" else 0.0
            values[:, j, 3 + j] = 1.0  # each mode is a column of its own
        offered = np.ones((len(part), 3), bool)
        offered[:, 2] = part["CAR_AV"] == 1
        answers = np.eye(3)[part["CHOICE"].to_numpy() - 1]
        kept = (answers * offered).sum(axis=1) == 1
        if kept.any():
            yield person, values[kept], offered[kept], answers[kept]


def _kidney(path: Path) -> Iterator[_Raw]:
    frame = pd.read_csv(path).sort_values(["user_id", "decision_rank"])
    for person, part in frame.groupby("user_id"):
        sides = [
            np.stack([part[f"{s}_age"], 2 - part[f"{s}_dependents"], part[f"{s}_drinking"]], axis=1)
            for s in ("left", "right")
        ]
        values = np.stack(sides, axis=1).astype(float)
        said = part["decision"].to_numpy()  # 2: "flip a coin"
        answers = np.stack([np.where(said == 2, 0.5, said == side) for side in (0, 1)], axis=1).astype(float)
        yield person, values, np.ones(values.shape[:2], bool), answers


def _colours(path: Path) -> Iterator[_Raw]:
    values, first = colour_values(), colour_answers()
    a, b = np.nonzero(~np.eye(len(values), dtype=bool))
    for person, said in enumerate(first):
        answers = np.stack([said[a, b], 1 - said[a, b]], axis=1)
        yield person, np.stack([values[a], values[b]], axis=1), np.ones((len(a), 2), bool), answers


def colour_values() -> Array:
    """Return (37, 8): how far each colour is from the most and from the least lightness, a, b and chroma there is.

    Nobody knows beforehand which way is better, so each way is a column.
    """
    lab = colour_places()
    every = np.column_stack([lab, np.hypot(lab[:, 1], lab[:, 2])])
    return np.hstack([every.max(axis=0) - every, every - every.min(axis=0)])


def colour_places() -> Array:
    """Return where the 37 colours are in CIELAB, (37, 3)."""
    return np.asarray(loadmat(folder() / FILES["colours"])["CIELAB"].astype(float))


def colour_answers() -> Array:
    """Return (48, 37, 37): 1 where a person preferred colour i, shown first, to j."""
    said = loadmat(folder() / FILES["colours"])["SingPrefAFCload"].transpose(2, 0, 1)
    return np.asarray((said == 1).astype(float))


_READERS: dict[str, Callable[[Path], Iterator[_Raw]]] = {
    "trains": _trains,
    "electricity": _electricity,
    "swissmetro": _swissmetro,
    "kidney": _kidney,
    "colours": _colours,
}
