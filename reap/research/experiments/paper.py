"""What the paper reports, to print beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reap._typing import Frame

#: Methods of our tables by the names that the paper has for them.
METHODS = {
    "DiCE": "DiCE",
    "Wachter": "Wachter",
    "ReAP (Algorithm 1, centre)": "ReAP",
    "FACE": "FACE",
    "PEAR": "PEAR",
    "ReAP, centre": "ReAP",
}
#: Accuracy and AUC of the networks.
CLASSIFIERS = {
    "synthetic": (0.98, 0.99),
    "german": (0.72, 0.62),
    "bank": (0.89, 0.68),
    "student": (0.93, 0.97),
    "adult": (0.85, 0.90),
    "compas": (0.83, 0.82),
    "gmc": (0.94, 0.84),
    "heloc": (0.74, 0.81),
}
#: Cost and validity of one-step methods.
GRADIENT = {
    "synthetic": {"DiCE": (0.31, 1.0), "Wachter": (0.12, 1.0), "ReAP": (0.10, 1.0)},
    "german": {"DiCE": (0.10, 0.96), "Wachter": (0.03, 1.0), "ReAP": (0.01, 1.0)},
    "bank": {"DiCE": (1.43, 0.99), "Wachter": (0.11, 1.0), "ReAP": (0.08, 1.0)},
    "student": {"DiCE": (0.07, 0.64), "Wachter": (0.05, 1.0), "ReAP": (0.05, 1.0)},
    "adult": {"DiCE": (2.89, 1.0), "Wachter": (0.06, 1.0), "ReAP": (0.04, 1.0)},
    "compas": {"DiCE": (0.51, 1.0), "Wachter": (0.03, 1.0), "ReAP": (0.03, 1.0)},
    "gmc": {"DiCE": (0.25, 1.0), "Wachter": (0.02, 1.0), "ReAP": (0.01, 1.0)},
    "heloc": {"DiCE": (0.43, 1.0), "Wachter": (0.05, 1.0), "ReAP": (0.05, 1.0)},
}
#: Path cost on the graph.
GRAPH = {
    "synthetic": {"FACE": 0.73, "ReAP": 0.70},
    "german": {"FACE": 0.66, "ReAP": 0.53},
    "bank": {"FACE": 1.20, "ReAP": 0.82},
    "student": {"FACE": 1.10, "ReAP": 1.04},
    "adult": {"FACE": 0.77, "ReAP": 0.75},
    "compas": {"FACE": 0.93, "ReAP": 0.79},
    "gmc": {"FACE": 0.61, "ReAP": 0.65},
    "heloc": {"FACE": 1.05, "ReAP": 0.95},
}
#: Path cost of a person whose effort is the L1 distance.
PEAR = {"adult": {"PEAR": 1.78, "ReAP": 1.76}, "gmc": {"PEAR": 0.96, "ReAP": 0.81}}
#: p-values of the one-sided paired Wilcoxon test.
WILCOXON = {
    "DiCE": {"german": 7e-12, "bank": 3e-18, "student": 0.046},
    "Wachter": {"german": 0.0029, "bank": 0.008, "student": 0.224},
    "FACE": {"german": 0.009, "bank": 5e-8, "student": 0.019},
    "PEAR": {"adult": 0.442, "gmc": 0.0015},
}
#: Steps of a path: centre, worst case.
LENGTHS = {"german": (3.96, 4.14), "bank": (5.89, 6.07), "student": (5.85, 5.91)}
#: Jaccard distance of the relaxed to the exact min-max path.
JACCARD = {"german": "0.03 ± 0.02", "bank": "0.05 ± 0.06", "student": "0.05 ± 0.04"}
#: Path cost on German by ε.
EPSILON = {0.01: "0.53 ± 0.49", 0.02: "0.55 ± 0.51", 0.05: "0.51 ± 0.45", 0.1: "0.51 ± 0.45"}
#: Mean rank of random questions and of the heuristic after 0, 5, 10 answers.
RANDOM = {
    "german": {"random": (0.26, 0.24, 0.15), "similar cost": (0.13, 0.10, 0.07)},
    "bank": {"random": (0.42, 0.31, 0.19), "similar cost": (0.27, 0.20, 0.15)},
    "student": {"random": (0.37, 0.31, 0.29), "similar cost": (0.25, 0.23, 0.21)},
}
#: Relative gap of the heuristic to the exhaustive search at γ = 0.01.
GAP = {"synthetic": 0.001, "german": 0.017, "bank": 0.021, "student": 0.029}


def printed(part: Frame, figures: Mapping[str, Mapping[str, Any]], which: int | None = None) -> str:
    """Return what the paper reports for a line of a table, which holds one data set and method; "" where it has nothing."""
    found = figures[part["dataset"].iloc[0]].get(METHODS.get(part["method"].iloc[0], ""))
    return "" if found is None else f"{found if which is None else found[which]:.2f}"
