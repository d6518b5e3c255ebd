"""From the options of a command to a fitted engine and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.cli._acceptance import Accepted
from reap.cli._carried import carried, is_csv, keeping
from reap.cli._options import Decision

#: The engines by the names they have on the command line.
ENGINES = {"recourse": "Recourse", "graph": "GraphRecourse", "gradient": "GradientRecourse"}


@dataclass(frozen=True)
class Setup:
    """A fitted engine, the rows it knows, and the rejected ones among the rows it was not trained on."""

    engine: Any
    X: Frame
    rejected: Frame
    accuracy: float | None


def engine_class(name: str) -> Any:
    """Return the class of an engine by its name on the command line."""
    import reap

    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    return getattr(reap, ENGINES[name])


def prepare(
    data: str,
    decision: Decision,
    seed: int,
    *,
    allow_pickle: bool = False,
    one: bool = False,
    row: int | None = None,
    guests: bool = False,
    anonymity: int = 0,
) -> Setup:
    """Return a fitted engine for a data set or a CSV file, training a model where none is given.

    A model may want columns that the space leaves out: of ``one`` person (in ``row``, else the first rejected), or of
    everybody in the table; ``guests`` are people who are not in it. With an ``anonymity`` nothing that is recommended is
    taken from fewer people than that.
    """
    import reap
    from reap.models import wanted
    from reap.models.files import load_model

    model = decision.model
    kind = engine_class(decision.engine)
    if anonymity:
        kind = anonymous(kind, anonymity)
    decision.scale()  # says what is wrong before anything is trained
    table = read_table(data, decision.label, decision.favourable, decision.space)
    trained, accuracy, rest = (
        (load_model(model, allow_pickle=allow_pickle, trusted=decision.trust), None, table.X)
        if model
        else train(table, seed)
    )
    favoured = class_of(trained, decision.target)
    own = (
        carried(trained, table, data, row, {"target": favoured, **decision.scale()})
        if one and model
        else None
    )
    if own is not None:
        trained, place = own
        rest = table.X.iloc[[place]]
    elif model and not one and wanted(trained, table.space) and is_csv(data):
        kept = keeping(trained, table.space, [data], guests=guests)
        table = reap.datasets.from_csv(
            data, label=str(decision.label), space=kept, favourable=decision.favourable
        )
        rest = table.X
    made = fitted(kind, trained, table.space, favoured, decision, table.X, table.y, seed)
    fine = made.classifier_.accepts(table.space.encode(rest))
    return Setup(made, table.X, rest[~fine], accuracy)


def fitted(
    kind: Any, model: Any, space: Any, target: Any, accepted: Accepted, X: Frame, y: Any, seed: int
) -> Any:
    """Return an engine fitted on rows X; y has 1 for favourable, or is None where no labels are at hand."""
    from reap.models import wrap

    scale = accepted.scale()
    settings, labels = accepted.holding(model, target, y)
    margin = accepted.margin_of(settings, wrap(model, space, target=target, **scale).scale)
    return kind(model, space, target=target, **scale, **settings, margin=margin, random_state=seed).fit(
        X, labels
    )


def anonymous(kind: Any, k: int) -> Any:
    """Return an engine's class that is asked for anonymity among ``k`` people; refused where the engine knows none."""
    from functools import partial
    from inspect import signature

    if "anonymity" not in signature(kind).parameters:
        raise InputError(
            f"anonymity is {k}, but {kind.__name__} takes no rows of other people apart; use --engine recourse or graph"
        )
    return partial(kind, anonymity=k)


def class_of(model: Any, text: str) -> Any:
    """Return the class of a model that is written like this."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return int(text) if text.lstrip("-").isdigit() else text
    for label in getattr(classes, "tolist", lambda: list(classes))():
        if str(label) == text:
            return label
    raise unknown("class", text, classes)


def read_table(data: str, label: str | None, favourable: str, space: Path | None) -> Any:
    """Return a data set by its name, or of a CSV file with its label; with the space of a file, or the set's own."""
    import reap

    own = reap.ActionSpace.load(space) if space else None
    if not is_csv(data):
        loaded = reap.datasets.load(data)
        return loaded if own is None else reap.datasets.Dataset(**{**vars(loaded), "space": own})
    if label is None:
        raise InputError(
            f"which column of {data} is the decision? Name it with --label, and its favourable value with --favourable"
        )
    return reap.datasets.from_csv(data, label=label, space=own, favourable=favourable)


def train(table: Any, seed: int) -> tuple[Any, float, Frame]:
    """Train the paper's network on four fifths of the rows; return it, its accuracy, and the other fifth.

    What is missing takes the median.
    """
    import warnings

    import numpy as np
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    if table.y.nunique() < 2:
        raise InputError(
            "the label has one class only; a model needs rows of both, favourable = 1 and other = 0"
        )
    X, rest, y, y_rest = train_test_split(table.X, table.y, test_size=0.2, stratify=table.y, random_state=42)
    network = MLPClassifier((20, 50, 20), early_stopping=len(X) > 5000, max_iter=300, random_state=seed)
    gaps = bool(np.isnan(table.space.encode(table.X)).any())
    filled = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
    model = make_pipeline(table.space.encoder(), *filled, network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return model, float(model.score(rest, y_rest)), rest


def pick(setup: Setup, row: int | None) -> Frame:
    """Return one subject as a one-row frame: a row number of the table, or the first rejected person."""
    if row is not None:
        if not 0 <= row < len(setup.X):
            raise InputError(f"there is no row {row}; the table has rows 0 to {len(setup.X) - 1}")
        return setup.X.iloc[[row]]
    if len(setup.rejected) == 0:
        raise InputError(
            "the model accepts everybody in this table, so there is nobody to advise; name a row with --row"
        )
    return setup.rejected.iloc[[0]]
