"""DiCE's own package on a data set of ours, by each of its methods, one person at a time."""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.neural_network import MLPClassifier


def loops(data: Any, model: Any) -> dict[str, Callable[[Any], None]]:
    """Return a loop over people for each method that can be run; none where dice-ml is not installed.

    ``random`` and ``genetic`` see the model as it is. ``gradient``, the method of the paper's tables, needs a torch
    network on DiCE's own encoding: one of the same shape is trained for it.
    """
    os.environ["TQDM_DISABLE"] = "1"
    try:
        import dice_ml
    except ImportError:
        return {}
    numbers = [f.name for f in data.space.features if f.is_number]
    X = data.X.astype({c: "float32" if c in numbers else str for c in data.X.columns})
    table = dice_ml.Data(
        dataframe=X.assign(label=data.y.to_numpy()), continuous_features=numbers, outcome_name="label"
    )
    free = [f.name for f in data.space.features if f.actionable and f.derived is None]
    raw = dice_ml.Data(
        dataframe=data.X.assign(label=data.y), continuous_features=numbers, outcome_name="label"
    )
    black_box = dice_ml.Model(model=model, backend="sklearn")
    made = {
        name: _loop(dice_ml.Dice(raw, black_box, method=name), free, data.X.dtypes, {})
        for name in ("random", "genetic")
    }
    with contextlib.suppress(ImportError):
        network = dice_ml.Model(model=_torch(table, X, data.y), backend="PYT", func="ohe-min-max")
        weights = {"proximity_weight": 0.5, "diversity_weight": 1.0}
        made["gradient"] = _loop(dice_ml.Dice(table, network, method="gradient"), free, X.dtypes, weights)
    return made


def _loop(explainer: Any, free: list[str], dtypes: Any, settings: dict[str, float]) -> Callable[[Any], None]:
    def loop(people: Any) -> None:
        rows = people.astype(dtypes)
        for i in range(len(rows)):
            # It raises where it finds nothing; the time is spent all the same.
            with _silent(), contextlib.suppress(Exception):
                explainer.generate_counterfactuals(
                    rows.iloc[[i]],
                    total_CFs=1,
                    desired_class=1,
                    features_to_vary=free,
                    verbose=False,
                    **settings,
                )

    return loop


def _torch(table: Any, X: Any, y: Any) -> Any:
    """Return the paper's network on DiCE's encoding, trained by scikit-learn and copied to torch."""
    import torch

    trained = MLPClassifier((20, 50, 20), early_stopping=True, max_iter=30, random_state=0)
    trained.fit(table.get_ohe_min_max_normalized_data(X).to_numpy(dtype="float32"), y)
    layers: list[Any] = []
    for weights, bias in zip(trained.coefs_, trained.intercepts_, strict=True):
        layer = torch.nn.Linear(*weights.shape)
        layer.weight.data = torch.tensor(weights.T.copy(), dtype=torch.float32)
        layer.bias.data = torch.tensor(bias, dtype=torch.float32)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    logging.disable(logging.WARNING)
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)
