"""Whether what was learnt predicts people who did not teach it: the gate of a learnt prior.

Half of the people teach, the other half are predicted, then the other way round. The gain of a person is the log-likelihood of
their answers with R minus that without, families and kinds as by default: what is judged is structure that people share. It is
taken where the mean gain is more than `T` standard errors above zero; else the default stays as it is. How many people mind the
columns beside the moves, and how much, has a gate of its own: without R, what was learnt against the default. R is judged with
these weights on both sides, so that it is not taken for what they explain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from reap._typing import Array, Bools
from reap.belief.answers import choice_probabilities, people
from reap.belief.learned_prior import PLAIN
from reap.belief.learning.fitting import Fit
from reap.belief.learning.marginal import Marginal
from reap.belief.learning.past import Past
from reap.belief.learning.shares import FAMILIES, Shares

#: Standard errors by which the mean gain must be above zero.
T = 2.0
#: Fixed matrices on which held-out people are judged, others than those that were learnt on.
_MATRICES, _SEED = 1080, 1


@dataclass(frozen=True, eq=False)
class Held:
    """What a learnt R makes of people who did not teach it, beside the default.

    Parameters
    ----------
    structure : (n,) array
        Gain in log-likelihood of each person by R alone.
    minding : (n,) array
        Gain by the weights of the columns beside alone, without R.
    default, learnt : (n,) arrays
        Log-likelihood of each person's answers under the default prior, and under all that was learnt.
    default_hits, learnt_hits : (a,) arrays of bool
        Which answers each expected, given the person's answers before.
    """

    structure: Array
    minding: Array
    default: Array
    learnt: Array
    default_hits: Bools
    learnt_hits: Bools

    @classmethod
    def together(cls, parts: list[Held]) -> Held:
        """Return several halves as one."""
        names = ("structure", "minding", "default", "learnt", "default_hits", "learnt_hits")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Verdict:
    """Whether the gate opens, and the figures for it.

    Parameters
    ----------
    taken : bool
        Whether R is.
    minds : bool
        Whether the weights of columns beside are.
    t : float
        Mean gain of R in standard errors.
    figures : dict of str to float
        Log-likelihood of an answer (default and learnt), share of predicted answers, gain of a person with its 95 % interval.
    """

    taken: bool
    minds: bool
    t: float
    figures: dict[str, float]


def held_out(past: Past, found: Fit) -> Held:
    """Return what was learnt from others makes of these people."""
    marginal = Marginal(past, list(FAMILIES), _MATRICES, _SEED)
    k, who, default = past.dimension, people(), Shares.default(past.extra)
    minding = replace(default, minders=found.shares.minders)
    plain = default.mixed(marginal.at(np.eye(k), who).logs)
    weighed = minding.mixed(marginal.at(np.eye(k), who, sizes=found.weights).logs) if past.extra else plain
    rooted = marginal.at(found.root, who, sizes=found.weights).logs
    return Held(
        _mixture(weighed, minding.mixed(rooted)) - weighed,
        weighed - plain,
        plain,
        _mixture(plain, found.shares.mixed(rooted)),
        _hits(marginal, np.eye(k), np.zeros(past.extra), default),
        _hits(marginal, found.root, found.weights, found.shares),
    )


def _mixture(plain: Array, learnt: Array) -> Array:
    return np.asarray(np.logaddexp(plain + np.log(PLAIN), learnt + np.log1p(-PLAIN)))


def _hits(marginal: Marginal, root: Array, sizes: Array, shares: Shares) -> Bools:
    """Return which answers `(a,)` were expected, each given the person's answers before it.

    An option is expected where it is the likeliest; "same" is never expected.
    """
    who, cases = people(), marginal.cases(sizes)
    usual = np.concatenate(
        [
            np.repeat(logs, case.each, axis=0) - np.log(case.each)
            for logs, case in zip(shares.logs, cases, strict=True)
        ]
    )[:, None]
    hits = []
    for past in marginal.parts:
        efforts = marginal.minding(past, root, cases)
        each = marginal.each_answer(past, efforts, who)
        before = np.cumsum(each, axis=1) - each
        before -= (np.cumsum(each, axis=1) - each)[:, past.first][:, past.person]
        known = before + usual
        known = np.exp(known - logsumexp(known, axis=(0, 2), keepdims=True))
        hit = np.zeros(past.answers, dtype=bool)
        for (same, _), (at, options) in past.groups.items():
            if not same:
                chances = choice_probabilities(efforts[:, options], who)  # (M, m, k, t)
                expected = np.einsum("mat,makt->ak", known[:, at], chances)  # over matrices and kinds of care
                hit[at] = expected.argmax(axis=1) == 0
        hits.append(hit)
    return np.concatenate(hits)


def judge(held: Held) -> Verdict:
    """Return whether a gain on people who were held out is more than chance.

    Examples
    --------
    >>> ones, no = np.ones(50), np.zeros(50, dtype=bool)
    >>> noise = np.random.default_rng(0).normal(size=50)
    >>> judge(Held(ones + noise, noise, -ones, 0 * ones, no, ~no)).taken
    True
    >>> judge(Held(noise, noise, -ones, -ones, no, no)).taken
    False
    """
    t = _t(held.structure)
    gain = held.learnt - held.default
    mean, error = float(gain.mean()), _error(gain)
    answers = len(held.default_hits)
    figures = {
        "gate_t": t,
        "minds_t": _t(held.minding),
        "held_out_people": float(len(gain)),
        "default_log_likelihood": float(held.default.sum() / answers),
        "learnt_log_likelihood": float(held.learnt.sum() / answers),
        "gain": mean,
        "gain_low": mean - 1.96 * error,
        "gain_high": mean + 1.96 * error,
        "default_predicted": float(held.default_hits.mean()),
        "learnt_predicted": float(held.learnt_hits.mean()),
    }
    return Verdict(t > T and mean > 0, figures["minds_t"] > T, t, figures)


def gains(past: Past, found: Fit) -> Array:
    """Return by how much log-likelihood each person `(n,)` fits what was learnt better than the default."""
    held = held_out(past, found)
    return held.learnt - held.default


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def _t(values: Array) -> float:
    error = _error(values)
    return float(values.mean() / error) if 0 < error < np.inf else 0.0
