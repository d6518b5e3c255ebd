"""Somebody who knows their own effort, and answers as a person would: lapses, noise, and what they cannot tell apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Seed
from reap.belief.answers import chances, check_answering


@dataclass(kw_only=True, eq=False)
class Person(ABC):
    """A person with an effort for every plan; a question is answered with an option's index or "same".

    Parameters
    ----------
    lapse : float, default 0
        Share of answers given at random among the options.
    noise : float, optional
        Sharpness κ of a logistic answer, as in `Posterior`: of two options the first is chosen with chance
        `σ(κ (c_2−c_1)/c̄)`, c̄ the mean of both; smaller is noisier. By default the easiest option is always found.
    epsilon : float, default 0
        The answer is "same" where the efforts of all options lie within this; 0 is for exact ties.
    random_state : int or Generator, default 0
        What lapses and noise are drawn from.
    """

    lapse: float = 0.0
    noise: float | None = None
    epsilon: float = 0.0
    random_state: Seed = 0

    def __post_init__(self) -> None:
        check_answering(self.lapse, self.noise)
        if not self.epsilon >= 0:
            raise InputError(f"epsilon is {self.epsilon}; it must be 0 or more.")
        self._rng = np.random.default_rng(self.random_state)

    @abstractmethod
    def effort(self, moves: Array) -> float:
        """Return the effort of one plan: its whole change `(d,)`, or the moves `(s, d)` of a path."""

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return the efforts `(m,)` of m plans."""
        return np.array([self.effort(moves) for moves in options])

    def answer(self, question: Any) -> int | Literal["same"]:
        """Answer a question: the index of the option that is easier for this person, or "same".

        Parameters
        ----------
        question : Question or list of moves
            Anything with `.options`, each with `.moves`; or the moves themselves.
        """
        options = getattr(question, "options", question)
        if len(options) < 2:
            raise InputError(f"the question has {len(options)} option(s); it takes at least 2 to compare.")
        efforts = self.efforts([getattr(option, "moves", option) for option in options])
        if self._rng.random() < self.lapse:
            return int(self._rng.integers(len(efforts)))
        if np.ptp(efforts) <= self.epsilon:
            return "same"
        if self.noise is None:
            return int(np.argmin(efforts))
        likely = chances(efforts, efforts, np.asarray(self.noise), np.asarray(0.0))
        return int(self._rng.choice(len(efforts), p=likely))
