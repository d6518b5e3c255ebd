"""Plans on the decision boundary: time of one and of forty, against Wachter in torch on the same network.

Wachter gets every advantage: single precision, the best of several losses and learning rates, and the fewest steps at
which its plans are within 5 % of the cheapest it ever finds. Both move within the same ranges; one-hot columns do
not move in Wachter, whose gradient never switches a category. Its last point is rounded as ours is.
"""

from __future__ import annotations

import time
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks._harness import Row

DATA = "german"


def run(quick: bool) -> list[Row]:
    """Ours for new subjects, pool included; then Wachter on the same ones."""
    data = reap.datasets.load(DATA)
    network = MLPClassifier((20, 50, 20), max_iter=200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(data.X, data.y)
    engine = reap.GradientRecourse(model, data.space).fit(data.X)
    rejected = data.X[model.predict(data.X) == 0]
    subjects = [rejected.iloc[[i]] for i in range(min(len(rejected), 10 if quick else 30))]
    d = data.space.dimension
    G = np.random.default_rng(0).normal(size=(40, d, d))
    A = G @ G.transpose(0, 2, 1)
    A /= np.linalg.eigvalsh(A)[:, -1, None, None]

    engine.plans(subjects[0], A)  # warm
    one, plans = timed(engine, subjects, np.eye(d)[None], fresh=True)
    forty, _ = timed(engine, subjects, A, fresh=True)
    again, _ = timed(engine, subjects, A, fresh=False)
    valid = np.mean([plan.valid for plan in plans])
    rows = [
        Row.limit(
            "gradient plan, new subject, median", one * 1e3, "ms", at_most=50, note=f"valid {valid:.0%}"
        ),
        Row.limit("gradient plans, 40 matrices, new subject, median", forty * 1e3, "ms", at_most=200),
        Row.limit("gradient plans, 40 matrices, same subject again, median", again * 1e3, "ms", at_most=200),
    ]
    return rows + against_wachter(data, network, engine, subjects, one, quick)


def timed(engine: Any, subjects: list[Any], A: Any, fresh: bool) -> tuple[float, list[Any]]:
    """Median seconds of one call over subjects; ``fresh`` forgets what is known about them."""
    times, plans = [], []
    for x in subjects:
        if fresh:
            engine._boundaries.clear()
        else:
            engine.plans(x, A[:1])
        start = time.perf_counter()
        plans += engine.plans(x, A)
        times.append(time.perf_counter() - start)
    return float(np.median(times)), plans


def against_wachter(
    data: Any, network: Any, engine: Any, subjects: list[Any], one: float, quick: bool
) -> list[Row]:
    """Speed and effort beside Wachter's, at the settings that suit it best."""
    try:
        import torch
    except ModuleNotFoundError:
        print("gradient: Wachter was not run; it needs torch (pip install torch==2.13.0)")
        return []
    torch.set_num_threads(1)
    module = as_torch(network, torch)
    space = data.space
    numbers = [space.slices[f.name].start for f in space.features if f.is_number or f.kind == "ordinal"]
    settings = list(
        product(("cross-entropy", "hinge"), (0.01, 0.03, 0.1), (50, 100) if quick else (50, 100, 200, 400))
    )
    tuning, judged = subjects[: 4 if quick else 8], subjects

    def trial(people: list[Any], setting: Any) -> tuple[float, Any]:
        times, rows = [], []
        for x in people:
            z0 = space.vector(x)
            low, high = (np.where(np.isin(np.arange(len(z0)), numbers), end, z0) for end in space.box(z0))
            start = time.perf_counter()
            end = wachter(torch, module, z0, low, high, *setting)
            times.append(time.perf_counter() - start)
            rows.append(space.project(end[None], z0)[0] - z0)
        return float(np.median(times)), np.array(rows)

    def efforts(people: list[Any], moves: Any) -> Any:
        """Identity effort of each move; NaN where the rounded row is not accepted."""
        ends = np.array([space.vector(x) for x in people]) + moves
        accepted = engine.classifier_.accepts(ends)
        return np.where(accepted, (moves**2).sum(axis=1), np.nan)

    tried = []
    for setting in settings:
        seconds, moves = trial(tuning, setting)
        costs = efforts(tuning, moves)
        tried.append((seconds, float(np.nanmean(costs)), float(np.isfinite(costs).mean()), setting))
    most = max(share for _, _, share, _ in tried)
    able = [t for t in tried if t[2] >= most - 1e-9]
    least = min(cost for _, cost, _, _ in able)
    tuned = min((t for t in able if t[1] <= 1.05 * least), key=lambda t: t[0])[3]
    seconds, moves = trial(judged, tuned)
    theirs = efforts(judged, moves)
    ours = np.array([engine.plans(x, np.eye(space.dimension))[0].cost for x in judged])
    both = np.isfinite(theirs)
    loss, rate, steps = tuned
    note = f"Wachter: {loss}, rate {rate:g}, {steps} steps a λ, valid {both.mean():.0%}"
    return [
        Row.speedup(
            "gradient plan against Wachter",
            "Wachter in torch, tuned",
            one,
            seconds,
            at_least=None if quick else 2,
            note=note,
        ),
        Row.limit(
            "effort of gradient plans against Wachter's",
            float(ours[both].sum() / theirs[both].sum()),
            "×",
            at_most=1.0,
            peer="Wachter in torch, tuned",
            note="identity costs, which Wachter minimises; where both are valid",
        ),
    ]


def as_torch(network: Any, torch: Any) -> Any:
    """Return the scikit-learn network as a torch module that gives logits."""
    layers: list[Any] = []
    for weight, bias in zip(network.coefs_, network.intercepts_, strict=True):
        linear = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(weight.T))
            linear.bias.copy_(torch.tensor(bias))
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).requires_grad_(False)


def wachter(torch: Any, module: Any, z0: Any, low: Any, high: Any, loss: str, rate: float, steps: int) -> Any:
    """Return where Adam ends on ``loss + λ|x − x0|²``; λ falls from 1 by 0.05 until that is accepted."""
    start, low, high = (torch.tensor(v, dtype=torch.float32) for v in (z0, low, high))
    for weight in np.linspace(1.0, 0.0, 21):
        x = start.clone().requires_grad_(True)
        adam = torch.optim.Adam([x], lr=rate)
        for _ in range(steps):
            adam.zero_grad()
            logit = module(x)[0]
            gap = (
                torch.nn.functional.softplus(-logit) if loss == "cross-entropy" else torch.relu(0.01 - logit)
            )
            (gap + float(weight) * ((x - start) ** 2).sum()).backward()
            adam.step()
            with torch.no_grad():
                x.clamp_(low, high)
        if module(x)[0].item() > 0:
            break
    return x.detach().numpy().astype(float)
