"""The value of an answer, the default: ask what changes the recommendation, be it about plans or about parts of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Ints
from reap.belief import Sampled
from reap.questions.greedy import SHORTLIST, best_question, promising
from reap.questions.strategy import Choice, Strategy, Task, check_number, check_options, samples_of

#: The largest number of plans that are asked about, and of parts of plans.
PLANS, PARTS = 40, 80
#: People on whom all pairs are looked at first.
FEW = 200
#: What a question about parts counts beside one about plans: people see at once what plans lead to.
PART = 0.9
#: What is left of a question's worth for every row beyond two in which its options differ: people attend to about two.
ROW = 0.7


@dataclass(frozen=True)
class Decision(Strategy):
    """The question whose answer is worth most: it leads to the least expected effort of the plan recommended after it.

    With efforts ``c_i`` of the plans and answers ``a`` as likely as the belief says, each meant as it is given, the worth is
    ``1 − Σ_a P(a) min_i E[c_i | a] / min_i E[c_i]``, the share of the effort that the answer is expected to save
    (`Choice.gain`). `Choice.score` is the expectation itself. What is asked about need not be a plan: *parts* of plans,
    compared with everything else equal, tell as much and are easier to read; they are asked about where that is worth a
    ninth more. With a `burden`, every row beyond two takes 30 % off the worth: people attend to about two. Pairs are
    compared, more options are added greedily as long as they add to the worth. Plans stand beside plans, parts beside
    parts.

    An answer is taken at its word. Slips are for the belief to forgive, and for later questions to mend: counted as a risk,
    they made sessions end before anything was known.

    Parameters
    ----------
    options : int
        Options to a question, at most.
    min_gain : float
        Nothing is asked that saves a smaller share of the effort.
    tolerance : float
        With a `burden`, questions whose gain is within this share of the best count as equal, and the one
        whose options differ in fewest features is asked.

    Examples
    --------
    >>> from reap.belief import Posterior
    >>> plans = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [3.0, 0.0, 1.0]])  # the third is harder than the first
    >>> choice = Decision().choose(plans, Posterior(3))
    >>> choice.options, choice.gain > 0.1
    ((0, 1), True)
    >>> with_parts = np.vstack([plans, np.eye(3)[:2]])
    >>> Decision().choose(with_parts, Posterior(3), asked=[(0, 1)], plans=3).options
    (3, 4)
    """

    options: int = 2
    min_gain: float = 0.005
    tolerance: float = 0.02

    def __post_init__(self) -> None:
        check_options(self.options)
        check_number("min_gain", self.min_gain, 0.0)
        check_number("tolerance", self.tolerance, 0.0)

    def best(self, task: Task) -> Choice | None:
        """Return the question that saves most, or None where none saves `min_gain`."""
        known = samples_of(task.belief, "Decision")
        if task.plans < 2:
            return None
        weights, efforts = known.weights, np.asarray(known.efforts(task.moves), dtype=float)
        worth = efforts[:, : task.plans] / task.chances  # what a recommendation keeps low
        kept = promising(worth, weights, task.distinct(task.plans), SHORTLIST)
        single = float((weights @ worth[:, kept]).min())
        if single <= 0.0:
            return None  # a plan is free for everybody: nothing to save
        parts = np.arange(task.plans, min(len(task), task.plans + PARTS))
        places = np.concatenate([kept[:PLANS], parts])
        counts = np.where(places >= task.plans, PART, 1.0) * _readable(task.rows(places[:, None], places))
        plans, asked = worth[:, kept] * weights[:, None], efforts[:, places]
        some = _drawn(weights, FEW)
        found = best_question(
            task,
            places,
            lambda questions: _saved(known, plans, asked, questions),
            size=self.options,
            tolerance=self.tolerance,
            share=counts,
            rough=lambda questions: _saved(known, worth[some][:, kept], asked[some], questions, some),
        )
        if found is None or found.score < self.min_gain:
            return None
        return Choice(found.options, (1 - found.score) * single, found.examined, found.score)


def _readable(rows: Array) -> Array:
    """Return what is left of the worth of questions by the rows they differ in."""
    return np.asarray(ROW ** np.maximum(np.where(np.isfinite(rows), rows, 0.0) - 2, 0))


def _saved(belief: Sampled, plans: Array, asked: Array, questions: Ints, some: Ints | None = None) -> Array:
    """Return the share of the expected effort that answers to questions (q, k) save, (q,).

    Parameters
    ----------
    belief : Sampled
    plans : (n, p)
        Effort of each plan that could be recommended for each of n people, times how much the person counts.
    asked : (n, m)
        Effort of each option that could be asked about.
    questions : (q, k)
    some : (n,), optional
        Which people these are; by default all of the belief's.
    """
    shown = np.moveaxis(np.stack([asked[:, options] for options in questions.T]), 0, -1)  # (n, q, k)
    chance = belief.answer_probabilities(shown, some, slips=False)
    least = [(chance[..., a].T @ plans).min(axis=1) for a in range(shown.shape[-1])]
    return np.asarray(1 - np.sum(least, axis=0) / plans.sum(axis=0).min())


def _drawn(weights: Array, count: int) -> Ints:
    """Return people (count,) who stand for all of them: drawn evenly by their weights (n,), so that each counts the same.

    Examples
    --------
    >>> _drawn(np.array([0.5, 0.25, 0.25]), 4).tolist()
    [0, 0, 1, 2]
    """
    at = np.searchsorted(np.cumsum(weights), (np.arange(count) + 0.5) / count * weights.sum())
    return np.asarray(np.minimum(at, len(weights) - 1))
