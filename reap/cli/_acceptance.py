"""What a score means, and what must accept a plan beside today's model: from the options of a command.

Unless told otherwise commands ask that plans hold: by nine of ten retrainings where labels are at hand and the model can be
retrained, else by a margin. Retraining takes as many processes as there are cores; ``reap.models.durable.enough`` says how often.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from reap._errors import InputError
from reap.scores import Output, Scale, Threshold

#: What commands ask for by default.
_DURABILITY, _MARGIN = 0.9, 0.03


@dataclass(frozen=True)
class Accepted:
    """Which scores are enough, and what must hold; as a command was told."""

    threshold: str = "0.5"
    output: str = "probability"
    unit: str = ""
    durability: float | None = 0.0
    margin: float | None = 0.0
    refits: int | None = None

    def scale(self) -> dict[str, Any]:
        """Return the settings of an engine that say what a score means."""
        threshold = _threshold(self.threshold)
        # says what is wrong before anything is trained
        Scale(threshold, cast(Output, self.output), self.unit)
        return {"threshold": threshold, "output": self.output, "unit": self.unit}

    def holding(self, model: Any, target: Any, y: Any) -> tuple[dict[str, Any], Any]:
        """Return the settings of an engine that say what must hold, and the labels to retrain with; y has 1 for favourable."""
        labels = self._labels(model, target, y)
        if self.durability and labels is None:
            raise InputError(
                "durability needs labels, and a model that can be retrained with them; give --margin instead"
            )
        asked = self.durability
        if asked is None:
            asked = 0.0 if labels is None or self.margin else _DURABILITY
        from reap.recourse import Durability

        settings = {
            "durability": Durability(
                asked, refits=self.refits, n_jobs=-1, verbose=bool(asked) and sys.stderr.isatty()
            )
        }
        return settings, labels if asked else None

    def margin_of(self, settings: dict[str, Any], scale: Scale) -> float:
        """Return the margin to keep: as told; else .03 of a probability where nothing else asks that plans hold."""
        if self.margin is not None:
            return self.margin
        if settings["durability"].share or self.durability == 0:
            return 0.0
        return _MARGIN if scale.output == "probability" else 4 * _MARGIN * scale.spread

    def _labels(self, model: Any, target: Any, y: Any) -> Any:
        """Return labels as the model was trained on them; None where there are none, or it cannot be retrained."""
        classes = getattr(model, "classes_", None)
        if y is None or self.output == "score" or classes is None or len(classes) != 2:
            return None
        if not all(hasattr(model, name) for name in ("fit", "get_params")):
            return None
        (other,) = [label for label in np.asarray(classes).tolist() if label != target]
        return np.array([target if good else other for good in np.asarray(y) == 1])


def _threshold(text: str) -> Threshold:
    """Return a threshold as it was typed: a number, or two with a colon between them of which one may be missing."""
    try:
        if ":" not in text:
            return float(text)
        low, high = text.split(":")
        return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        raise InputError(
            f"--threshold is {text!r}; give the score to exceed, such as 0.5 or 620, or a range such as 620:700"
        ) from None
