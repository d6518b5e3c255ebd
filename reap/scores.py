"""What a score means: the unit it is said in, and which scores are enough.

A model returns a probability, points, a margin or any number. Engines work on logits, so every other score is brought there by
one monotone link, ``(score − threshold) / spread``: 0 is the boundary, and one ``spread`` counts as one logit. What people read
is in the model's own unit, and ``Scale.say`` is the one function that says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any, Literal, get_args

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Bools
from reap.language import _, number

Output = Literal["probability", "score"]
Threshold = float | tuple[float | None, float | None]
#: Ends of a range belong to it: the logit jumps by this much there, so that a score at its very end is clearly enough.
_END = 2e-3
#: Decimals at most that are shown beyond the usual ones, to tell a score from the one needed.
_MORE = 5


@dataclass(frozen=True)
class Scale:
    """The unit of a model's scores, and which of them are enough.

    Parameters
    ----------
    threshold : float, or (low, high)
        A number: scores *above* it are enough. A range: scores from low to high, ends included; None: no limit on that side.
    output : {"probability", "score"}
        "score": points, margins, a regression; any number.
    unit : str
        Said behind a score: "points", "EUR".
    spread : float
        How much of the unit counts as one logit.
    extent : (low, high)
        What a picture of the scale shows.

    Examples
    --------
    >>> Scale().say(0.203), Scale().needed
    ('20 out of 100', 'more than 50')
    >>> card = Scale(620, "score", unit="points", spread=30)
    >>> card.say(611.4), card.needed, bool(card.enough(620)), bool(card.enough(621))
    ('611 points', 'more than 620 points', False, True)
    >>> Scale((620, None), "score").needed, Scale((None, 300), "score", unit="EUR").needed
    ('at least 620', 'at most 300 EUR')
    """

    threshold: Threshold = 0.5
    output: Output = "probability"
    unit: str = ""
    spread: float = 1.0
    extent: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.output not in get_args(Output):
            raise unknown("output", self.output, get_args(Output))
        if not isinstance(self.unit, str):
            raise InputError(f"unit is {self.unit!r}; give the word behind a score, such as 'points'")
        if self.output == "probability":
            if not (_is_number(self.threshold) and 0 < self.threshold < 1):  # type: ignore[operator]
                raise InputError(
                    f"threshold is {self.threshold!r}; give a probability between 0 and 1, or output='score' where the "
                    "model returns points or another number"
                )
            if self.unit:
                raise InputError(
                    f"unit is {self.unit!r}; a probability has none, output='score' may have one"
                )
        object.__setattr__(self, "threshold", _checked(self.threshold))

    # which scores are enough ---------------------------------------------------------------------------

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest score that is enough; a single threshold itself is not."""
        if isinstance(self.threshold, tuple):
            low, high = self.threshold
            return -np.inf if low is None else low, np.inf if high is None else high
        return self.threshold, np.inf

    def enough(self, scores: Any) -> Bools:
        """Return which scores are enough, of the same shape."""
        scores = np.asarray(scores, dtype=float)
        if isinstance(self.threshold, tuple):
            low, high = self.ends
            return np.asarray((scores >= low) & (scores <= high))
        return np.asarray(scores > self.threshold)

    def logit(self, scores: Array) -> Array:
        """Return scores (n,) other than probabilities as logits (n,), above 0 where they are enough."""
        scores = np.asarray(scores, dtype=float)
        low, high = self.ends
        gap = np.minimum(scores - low, high - scores)
        jump = _END * (gap >= 0) if isinstance(self.threshold, tuple) else 0.0
        return np.asarray(gap / self.spread + jump)

    def slope(self, scores: Array) -> Array:
        """Return the derivative (n,) of ``logit``: its sign is the way that leads to enough."""
        low, high = self.ends
        return np.where(scores - low <= high - scores, 1.0, -1.0) / self.spread

    def checked_margin(self, margin: float) -> float:
        """Return a margin in this unit, refused where nothing could have it."""
        low, high = self.ends
        room = 1 - low if self.output == "probability" else (high - low) / 2
        if not (_is_number(margin) and 0 <= margin < room):
            most = f", and less than {room:g}, which is all there is above the threshold" * isfinite(room)
            raise InputError(f"margin is {margin!r}; give at least 0{most}")
        return float(margin)

    # words ---------------------------------------------------------------------------------------------

    def say(self, score: float) -> str:
        """Return a score as people read it, with its unit: "20 out of 100", "611 points"."""
        return f"{self.number(score)} {self.shown_unit}".strip()

    def number(self, score: float) -> str:
        """Return a score without its unit, with as many decimals as it takes to tell it from the score needed."""
        factor = 100 if self.output == "probability" else 1
        ends = [factor * end for end in self.ends if isfinite(end)]
        for decimals in range(self.decimals, self.decimals + _MORE):
            shown = round(factor * score, decimals)
            if bool(self.enough(shown / factor)) == bool(self.enough(score)) and (
                all(shown != round(end, decimals) for end in ends) or factor * score in ends
            ):
                break
        return number(factor * score, decimals)

    @property
    def shown_unit(self) -> str:
        """The words behind a score: "out of 100", "points"; empty where there are none."""
        return _("out of 100") if self.output == "probability" else self.unit

    @property
    def decimals(self) -> int:
        """Decimals that are worth showing: a tenth of what counts as one logit."""
        return 0 if self.output == "probability" else max(0, 1 - floor(log10(self.spread)))

    @property
    def needed(self) -> str:
        """Which scores are enough, in words: "more than 620 points"."""
        factor = 100 if self.output == "probability" else 1
        low, high = (self._plain(factor * end) if isfinite(end) else "" for end in self.ends)
        if not isinstance(self.threshold, tuple):
            said = _("more than {score}").format(score=low)
        elif low and high:
            said = _("{low} to {high}").format(low=low, high=high)
        else:
            said = (_("at least {score}") if low else _("at most {score}")).format(score=low or high)
        return f"{said} {self.unit}".strip()

    @staticmethod
    def _plain(value: float) -> str:
        decimals = next((d for d in range(6) if abs(round(value, d) - value) < 1e-9 * max(1, abs(value))), 6)
        return number(value, decimals)

    # for services --------------------------------------------------------------------------------------

    def rough(self, score: float) -> float:
        """Return a score rounded as it is shown, on the same side: exact scores of many rows give a model away."""
        grain = 0.01 if self.output == "probability" else 10.0**-self.decimals
        least, most = floor(score / grain), -floor(-score / grain)
        tried = sorted((least, most), key=lambda whole: abs(whole * grain - score))
        same = [whole for whole in tried if bool(self.enough(whole * grain)) == bool(self.enough(score))]
        return round((same or tried)[0] * grain, 10)

    def place(self, score: float) -> float:
        """Return where a score lies on a picture of the scale, from 0 to 1."""
        low, high = self.extent
        return float(np.clip((score - low) / ((high - low) or 1.0), 0.0, 1.0))

    # to and from files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        threshold = list(self.threshold) if isinstance(self.threshold, tuple) else self.threshold
        return {
            "output": self.output,
            "threshold": threshold,
            "unit": self.unit,
            "spread": self.spread,
            "extent": list(self.extent),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scale:
        """Undo ``to_dict``."""
        given = data["threshold"]
        low, high = data["extent"]
        threshold: Threshold = tuple(given) if isinstance(given, list | tuple) else float(given)
        return cls(threshold, data["output"], data["unit"], float(data["spread"]), (float(low), float(high)))


def _is_number(value: Any, finite: bool = True) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and (isfinite(value) or not finite)


def _checked(threshold: Any) -> Threshold:
    """Return a threshold as a float or a pair, refused where no score could be enough."""
    if _is_number(threshold):
        return float(threshold)
    if isinstance(threshold, tuple | list) and len(threshold) == 2:
        ends = [None if _is_number(end, finite=False) and np.isinf(end) else end for end in threshold]
        if any(end is not None for end in ends) and all(end is None or _is_number(end) for end in ends):
            low, high = (None if end is None else float(end) for end in ends)
            if low is None or high is None or low < high:
                return low, high
    raise InputError(
        f"threshold is {threshold!r}; give the score to exceed, such as 620, or a range such as (620, 700), in which one "
        "end may be None"
    )
