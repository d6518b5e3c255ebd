"""Mothilal, Sharma and Tan, "DiCE" (2020), through the authors' own package ``dice-ml``, on our vectors as the rows it wants."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import RowBaseline
from reap.space import ActionSpace, Limits

Method = Literal["auto", "gradient", "random", "genetic"]
_METHODS = ("auto", "gradient", "random", "genetic")
#: Weights of the gradient method: the package's own.
_GRADIENT = {"proximity_weight": 0.5, "diversity_weight": 1.0}
#: The column that dice-ml wants for the outcome.
_OUTCOME = "reap_outcome"
#: Rows of other people handed to dice-ml; it only learns ranges, levels and spreads from them.
_ROWS = 2000
#: Decimals of encoded numbers.
_DIGITS = 3


@dataclass(eq=False, repr=False, kw_only=True)
class DiCE(RowBaseline):
    """One counterfactual of ``dice-ml``, judged as the row it returns; the same for every matrix.

    dice-ml works on our vectors, a number in [0, 1] a column and a category a group. With constraints it is told what may
    vary and in which range; its row is then moved to the nearest legal one.

    Parameters
    ----------
    model, space, target, threshold, constraints, random_state
        As in ``Baseline``; without constraints, any point of the unit box.
    method : {"auto", "gradient", "random", "genetic"}
        "auto": the gradient method where the model has a gradient and torch is installed, else "random".
    max_iterations : int
        Steps of the gradient method at most.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [1000, 2000, 3000, 4000], "debts": [3, 2, 1, 0]})
    >>> DiCE(lambda rows: rows["income"] / 5000, reap.ActionSpace.from_frame(X)).method
    'auto'
    """

    method: Method = "auto"
    max_iterations: int = 5000

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model and hand dice-ml the ranges and levels."""
        if self.method not in _METHODS:
            raise unknown("method", self.method, _METHODS)
        package()
        super().fit(X, y)
        smooth = self.acceptance_.classifier.has_gradient
        if self.method == "gradient" and not smooth:
            raise InputError(f"{type(self.model).__name__} has no gradient; use method='random' or 'genetic'")
        self.method_ = (
            self.method
            if self.method != "auto"
            else "gradient"
            if smooth and find_spec("torch") is not None
            else "random"
        )
        rng = np.random.default_rng(self.random_state)
        some = np.sort(rng.permutation(len(self.rows_))[:_ROWS])
        self.dice_rows_ = DiceRows(self.space)
        self.table_ = self.dice_rows_.frame(zero_missing(self.rows_[some]))
        self.verdicts_ = self.accepted_[some].astype(int)
        self._explainer: Any = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_explainer": None}

    def _made(self) -> Any:
        """Return dice-ml's explainer, made on first use."""
        if self._explainer is None:
            dice = package()
            numbers = [c for c in self.table_.columns if pd.api.types.is_numeric_dtype(self.table_[c])]
            data = dice.Data(
                dataframe=self._table(),
                continuous_features=numbers,
                outcome_name=_OUTCOME,
                continuous_features_precision=dict.fromkeys(numbers, _DIGITS),
            )
            self._explainer = dice.Dice(data, self._dice_model(dice, data, numbers), method=self.method_)
        return self._explainer

    def _table(self) -> Frame:
        """Return the rows with some more, so that every level and both outcomes occur and every number spans [0, 1]."""
        extra = self.dice_rows_.corners()
        outcomes = np.append(self.verdicts_, np.arange(len(extra)) % 2)
        return pd.concat([self.table_, extra], ignore_index=True).assign(**{_OUTCOME: outcomes})

    def _dice_model(self, dice: Any, data: Any, numbers: list[str]) -> Any:
        if self.method_ != "gradient":
            return dice.Model(model=_Frames(self), backend="sklearn")
        from reap.research.baselines._dice_module import Module

        # dice-ml encodes the numbers first, then each category's levels in their order.
        blocks = {c: self.space.slices[f.name] for c, f in zip(self.table_, self.space.features, strict=True)}
        later = [c for c in blocks if c not in numbers]
        order = [j for c in (*numbers, *later) for j in range(blocks[c].start, blocks[c].stop)]
        return dice.Model(
            model=Module(self.acceptance_.classifier.kernel, np.argsort(order)),
            backend="PYT",
            func="ohe-min-max",
        )

    # the plan ----------------------------------------------------------------------------------------------------

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        rows = self._counterfactuals(subject)
        plan = self._first(rows, subject) if len(rows) else None
        if plan is not None:
            return plan
        said = (
            "dice-ml found nothing."
            if len(rows) == 0
            else "The row that dice-ml returned is not accepted as a legal row."
        )
        return subject.refused("none_found", said)

    def returned(self, x: Any) -> Array:
        """Return dice-ml's row for a subject as it is, a vector (0 or 1, d), before it is made legal."""
        return self._counterfactuals(self._subject(x))

    def _counterfactuals(self, subject: Subject) -> Array:
        """Return dice-ml's rows as vectors, (0 or 1, d); what is missing in the subject stays missing."""
        absent = np.isnan(subject.z)
        query = self.dice_rows_.frame(zero_missing(subject.z)[None])
        options: dict[str, Any] = {"total_CFs": 1, "desired_class": 1, "verbose": False}
        if self.method_ == "gradient":
            options |= {
                **_GRADIENT,
                "min_iter": min(500, self.max_iterations),
                "max_iter": self.max_iterations,
                "stopping_threshold": max(self.classifier_.threshold, 0.5),
            }
        else:
            options |= {"random_seed": self.random_state} if self.method_ == "random" else {}
        options |= self._allowed(subject, query)
        with silence(self.random_state):
            try:
                made = self._made().generate_counterfactuals(query, **options)
            except Exception as error:  # dice-ml raises its own kinds for "nothing found"
                if "No counterfactuals found" in str(error) or type(error).__module__.startswith("raiutils"):
                    return np.empty((0, self.space.dimension))
                raise
        found = made.cf_examples_list[0].final_cfs_df
        if found is None or len(found) == 0:
            return np.empty((0, self.space.dimension))
        Z = self.dice_rows_.vectors(found.iloc[:1])
        Z[:, absent] = np.nan
        return Z

    def _allowed(self, subject: Subject, query: Frame) -> dict[str, Any]:
        """Say what may vary; in the paper's setting everything may."""
        if not self.constraints:
            return {}
        lower, upper = subject.space.legal.box(subject.z)
        vary, ranges = [], {}
        for i, feature in enumerate(self.space.features):
            columns = self.space.slices[feature.name]
            low, high = zero_missing(lower[columns]), zero_missing(upper[columns])
            free = (high - low).max() > 10.0**-_DIGITS and not np.isnan(subject.z[columns]).any()
            if free:
                vary.append(f"f{i}")
            if columns.stop - columns.start == 1:  # dice-ml wants a range for every number, fixed or not
                ends = np.clip([low[0], high[0]], 0.0, 1.0) if free else (0.0, 1.0)
                ranges[f"f{i}"] = [float(end) for end in ends]
        return {"features_to_vary": vary or "all", "permitted_range": ranges or None}


class _Frames:
    """The model as scikit-learn would have it, on dice-ml's rows."""

    classes_ = np.array([0, 1])

    def __init__(self, engine: DiCE) -> None:
        self.engine = engine

    def predict_proba(self, frame: Frame) -> Array:
        """Return the probabilities (n, 2)."""
        p = self.engine.acceptance_.classifier.probability(self.engine.dice_rows_.vectors(frame))
        return np.column_stack([1 - p, p])

    def predict(self, frame: Frame) -> Any:
        """Return 1 where the model accepts."""
        return (self.predict_proba(frame)[:, 1] > self.engine.classifier_.threshold).astype(int)


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
                [f"l{k:03d}" for k in block.argmax(axis=1)] if wide else block[:, 0].round(_DIGITS)
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
