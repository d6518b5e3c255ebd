"""What was learnt, for people who decide whether to use it: words, the gain in one line, a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reap._errors import InputError
from reap.belief import LearnedPrior
from reap.language import N_, _, ngettext

#: Directions that are listed, the strongest first, and how many standard deviations from zero they must be.
_PAIRS, _SURE = 8, 2.0
#: How the name of a picture may end.
_PICTURES = (".png", ".svg", ".pdf")
_KINDS = (N_("careful"), N_("middling"), N_("careless"))
#: What people mind beside the changes themselves: as the columns of ``reap.elicitation.minds``.
_BESIDE = (N_("the number of changes"), N_("waiting"))


def gain(prior: LearnedPrior) -> str:
    """Return what a prior gains on people who were held out, in a sentence: for an operator."""
    who = ngettext("{n} person", "{n} people", prior.people).format(n=prior.people)
    figures = prior.figures
    if prior.learnt == "nothing" and not prior.minders:
        return _(
            "Nothing was learnt from {who}: people who were held out were not predicted better than by the default."
        ).format(who=who)
    if not figures:
        return _("Learnt from {who}.").format(who=who)
    return _(
        "Learnt from {who}: {learnt} of held-out answers predicted, {default} by the default; "
        "log-likelihood a person {gain} [{low}, {high}]."
    ).format(
        who=who,
        learnt=_percent(figures["learnt_predicted"]),
        default=_percent(figures["default_predicted"]),
        gain=f"{figures['gain']:+.2f}",
        low=f"{figures['gain_low']:+.2f}",
        high=f"{figures['gain_high']:+.2f}",
    )


def describe(prior: LearnedPrior) -> str:
    """Return the report of a prior as text: what was learnt, with 95 % intervals, and what it is worth."""
    lines = [gain(prior), ""]
    if prior.learnt != "nothing":
        lines.append(_("How hard each column is to change, times the average (95 % interval):"))
        width = max(map(len, prior.names))
        for i in np.argsort(-prior.scales, kind="stable"):
            low, middle, high = np.exp(prior.scales[i] + 1.96 * prior.scales_sd[i] * np.array([-1, 0, 1]))
            lines.append(f"  {prior.names[i]:<{width}}  {middle:6.2f}  [{low:.2f}, {high:.2f}]")
        pairs = _pairs(prior)
        if pairs:
            lines += ["", _("Columns that are harder (+) or easier (−) together than apart:")]
            lines += [f"  {one} · {two}  {value:+.2f} ± {1.96 * sd:.2f}" for one, two, value, sd in pairs]
    if prior.minders:
        lines += ["", _("What people mind beside the changes themselves (95 % intervals):")]
        lines += [_minded(prior, j) for j in range(len(prior.minders))]
    if prior.kinds_sd:
        spread = zip(_KINDS, prior.kinds, prior.kinds_sd, strict=False)
        shares = ", ".join(f"{_(name)} {_interval(share, sd)}" for name, share, sd in spread)
        lines += ["", _("How carefully people answer: {shares}.").format(shares=shares)]
        guessing = _interval(prior.guessing, prior.guessing_sd)
        lines.append(_("Named an option without looking: {share}.").format(share=guessing))
    lines.append(_("Hash {hash}.").format(hash=prior.hash))
    return "\n".join(lines)


def _minded(prior: LearnedPrior, j: int) -> str:
    """Return how many people mind one of the columns beside, and how much those do."""
    low, middle, high = np.exp(prior.weights[j] + 1.96 * prior.weights_sd[j] * np.array([-1, 0, 1]))
    return "  " + _("{what}: {share} of people, for whom it counts {weight} times a typical change").format(
        what=_(_BESIDE[j]),
        share=_interval(prior.minders[j], prior.minders_sd[j]),
        weight=f"{middle:.2f} [{low:.2f}, {high:.2f}]",
    )


def _interval(share: float, sd: float) -> str:
    """Return a share with its 95 % interval."""
    low, high = max(share - 1.96 * sd, 0.0), min(share + 1.96 * sd, 1.0)
    return f"{_percent(share)} [{100 * low:.0f}, {100 * high:.0f}]"


def _pairs(prior: LearnedPrior) -> list[tuple[str, str, float, float]]:
    """Return the directions that stand out, strongest first."""
    rows, columns = np.triu_indices(len(prior.names), 1)
    values, spread = prior.directions[rows, columns], prior.directions_sd[rows, columns]
    sure = np.flatnonzero((np.abs(values) > _SURE * spread) & (values != 0))
    order = sure[np.argsort(-np.abs(values[sure]), kind="stable")][:_PAIRS]
    return [
        (prior.names[rows[i]], prior.names[columns[i]], float(values[i]), float(spread[i])) for i in order
    ]


def check_format(path: str | Path) -> None:
    """Refuse a picture of a kind that cannot be drawn, by the end of its name.

    Examples
    --------
    >>> check_format("prior.doc")
    Traceback (most recent call last):
    ...
    reap._errors.InputError: a picture cannot be written as 'prior.doc'; name a file that ends in .png, .svg or .pdf
    """
    if Path(path).suffix.lower() not in _PICTURES:
        raise InputError(
            f"a picture cannot be written as {str(path)!r}; name a file that ends in .png, .svg or .pdf"
        )


def plot(prior: LearnedPrior, path: str | Path | None = None) -> Any:
    """Draw the scales with their 95 % intervals, and the directions where any were learnt.

    Returns the figure; with a path it is also written there, as PNG, SVG or PDF.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_format(path)
    order = np.argsort(prior.scales, kind="stable")
    names = [prior.names[i] for i in order]
    figure = Figure(figsize=(11, 1.2 + 0.28 * len(names)), layout="constrained")
    directed = prior.learnt == "directions"
    left = figure.add_subplot(1, 2 if directed else 1, 1)
    factors, spread = prior.scales[order], 1.96 * prior.scales_sd[order]
    left.errorbar(
        np.exp(factors),
        np.arange(len(names)),
        fmt="o",
        capsize=3,
        xerr=(np.exp(factors) - np.exp(factors - spread), np.exp(factors + spread) - np.exp(factors)),
    )
    left.axvline(1.0, linestyle=":", color="grey")
    left.set(xscale="log", yticks=np.arange(len(names)), yticklabels=names)
    left.set_xlabel(_("times as hard as the average (95 % interval)"))
    if directed:
        K = prior.directions[np.ix_(order, order)]
        most = max(float(np.abs(K).max(initial=0.0)), 0.1)
        right = figure.add_subplot(1, 2, 2)
        image = right.imshow(K, cmap="PuOr", vmin=-most, vmax=most, origin="lower")
        right.set(yticks=[], xticks=[])
        right.set_xlabel(_("which columns are harder (+) or easier (−) together"), fontsize=8)
        figure.colorbar(image, ax=right)
    figure.suptitle(gain(prior), fontsize=9, wrap=True)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
