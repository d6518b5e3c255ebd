"""PEAR's cost: linear in its weights before it is cut off at 0, on features rather than encoded columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array
from reap.space import ActionSpace

#: Which features act on which, parent -> children, by data set: from the authors' appendix.
DAGS: dict[str, dict[str, tuple[str, ...]]] = {
    "adult": {
        "age": ("workclass", "education-num", "relationship", "occupation"),
        "race": ("occupation", "education-num", "relationship"),
        "native-country": ("occupation", "education-num", "relationship"),
        "sex": ("occupation", "education-num", "relationship"),
        "relationship": ("marital-status",),
        "education-num": ("workclass",),
        "workclass": ("occupation", "hours-per-week", "capital-gain"),
        "hours-per-week": ("occupation",),
        "capital-gain": ("capital-loss",),
    },
    "gmc": {
        "age": (
            "MonthlyIncome",
            "DebtRatio",
            "NumberOfDependents",
            "NumberOfOpenCreditLinesAndLoans",
            "NumberRealEstateLoansOrLines",
        ),
        "MonthlyIncome": (
            "NumberOfOpenCreditLinesAndLoans",
            "NumberRealEstateLoansOrLines",
            "RevolvingUtilizationOfUnsecuredLines",
        ),
        "RevolvingUtilizationOfUnsecuredLines": (
            "NumberOfTime30-59DaysPastDueNotWorse",
            "NumberOfTime60-89DaysPastDueNotWorse",
            "NumberOfTimes90DaysLate",
        ),
        "NumberOfOpenCreditLinesAndLoans": (
            "NumberOfTime30-59DaysPastDueNotWorse",
            "NumberOfTime60-89DaysPastDueNotWorse",
            "NumberOfTimes90DaysLate",
            "DebtRatio",
        ),
        "NumberRealEstateLoansOrLines": (
            "NumberOfTime30-59DaysPastDueNotWorse",
            "NumberOfTime60-89DaysPastDueNotWorse",
            "NumberOfTimes90DaysLate",
            "DebtRatio",
        ),
    },
}


class Cost:
    """``C(set f to v | s, w) = max(0, w_ff·|Δ_f| + Σ_{p parent of f} w_pf·s_p)``, summed over the changed features.

    Features are changed in a topological order of the graph, so a parent is read as it is after the change. A number is
    its encoded value, a category the index of its level scaled to [0, 1]; a change of category is 1.

    Parameters
    ----------
    space : ActionSpace
    dag : mapping
        Parent to children, by feature name.

    Examples
    --------
    >>> from reap.space import Feature
    >>> space = ActionSpace([Feature("age", range=(0, 1)), Feature("pay", range=(0, 1))])
    >>> cost = Cost(space, {"age": ["pay"]})
    >>> cost.size  # w_age, w_pay, w_age→pay
    3
    >>> terms = cost.terms(np.array([[0.0, 0.0]]), np.array([[0.5, 0.25]]))
    >>> cost.of(terms, np.array([[1.0, 2.0, 4.0], [1.0, 2.0, -4.0]]))
    array([[3. ],
           [0.5]])
    """

    def __init__(self, space: ActionSpace, dag: Mapping[str, Sequence[str]]) -> None:
        self.space = space
        names = [f.name for f in space.features]
        for name in [*dag, *(child for children in dag.values() for child in children)]:
            if name not in names:
                raise unknown("feature", name, names)
        parents = [[names.index(p) for p, children in dag.items() if name in children] for name in names]
        try:
            tuple(TopologicalSorter(dict(enumerate(parents))).static_order())
        except CycleError:
            raise InputError("the features act on each other in a circle; give a graph without one") from None
        self.parents = parents
        begin = len(names) + np.cumsum([0, *(len(p) for p in parents)])
        #: Places of each feature's weights: its own, then one for each parent.
        self.places = [np.r_[i, begin[i] : begin[i + 1]].astype(np.intp) for i in range(len(names))]
        self.size = int(begin[-1])

    def values(self, Z: Array) -> Array:
        """Return vectors (n, d) as one number a feature, (n, F)."""
        out = np.zeros((len(Z), len(self.space.features)))
        for i, feature in enumerate(self.space.features):
            block = zero_missing(Z[:, self.space.slices[feature.name]])
            wide = block.shape[1] > 1
            out[:, i] = block.argmax(axis=1) / (block.shape[1] - 1) if wide else block[:, 0]
        return out

    def terms(self, before: Array, after: Array) -> list[Array]:
        """Return what is multiplied by each feature's weights, (n, 1 + parents); zeros where it does not change."""
        old, new = self.values(before), self.values(after)
        terms = []
        for i, feature in enumerate(self.space.features):
            size = np.abs(new[:, i] - old[:, i])
            changed = size > 1e-12
            if self.space.slices[feature.name].stop - self.space.slices[feature.name].start > 1:
                size = changed.astype(float)
            terms.append(np.column_stack([size, new[:, self.parents[i]]]) * changed[:, None])
        return terms

    def of(self, terms: list[Array], weights: Array) -> Array:
        """Return the costs (m, n) under m weights (m, size)."""
        total = np.zeros((len(weights), len(terms[0])))
        for part, places in zip(terms, self.places, strict=True):
            total += np.maximum(weights[:, places] @ part.T, 0.0)
        return total
