"""Model cliffs among the plans of a batch: where a change too small to notice decides, for whoever made the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from reap import language
from reap._typing import Frame
from reap.language import _, ngettext


@dataclass(frozen=True)
class ModelCliff:
    """A number at which plans stand on a cliff of the model.

    Parameters
    ----------
    feature, label : str
    plans : int
        Plans that stand on such a cliff.
    share : float
        Of all plans.
    example : str
        The widest jump of the score, in words.
    """

    feature: str
    label: str
    plans: int
    share: float
    example: str

    def __str__(self) -> str:
        return ngettext(
            "{label}: {n} plan ({share} of all); {example}",
            "{label}: {n} plans ({share} of all); {example}",
            self.plans,
        ).format(
            label=self.label,
            n=language.number(self.plans),
            share=f"{language.number(100 * self.share, 1)} %",
            example=self.example,
        )


def model_cliffs(frame: Frame) -> list[ModelCliff]:
    """Return the cliffs of a batch's plans, most frequent first; none where the table does not say."""
    if "recourse_cliffs" not in frame.columns:
        return []
    planned = frame[frame["recourse_status"] == "ok"]
    found: dict[str, list[dict[str, Any]]] = {}
    for text in planned["recourse_cliffs"]:
        for cliff in json.loads(text) if isinstance(text, str) and text else []:
            found.setdefault(cliff["feature"], []).append(cliff)
    made = []
    for feature, cliffs in found.items():
        worst = max(cliffs, key=lambda cliff: abs(cliff["score_above"] - cliff["score_below"]))
        example = _("from {below} to {above} a score goes from {low} to {high}").format(
            below=worst["below"],
            above=worst["above"],
            low=f"{worst['score_below']:.4g}",
            high=f"{worst['score_above']:.4g}",
        )
        made.append(ModelCliff(feature, worst["label"], len(cliffs), len(cliffs) / len(planned), example))
    return sorted(made, key=lambda cliff: -cliff.plans)
