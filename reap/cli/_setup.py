"""From the options of a command to a fitted engine and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.cli._options import DecisionOptions
from reap.space import ActionSpace

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
    decision: DecisionOptions,
    seed: int,
    *,
    allow_pickle: bool = False,
    guests: bool = False,
    anonymity: int = 0,
) -> Setup:
    """Return a fitted engine for a data set or a CSV file, training a model where none is given.

    Where a model wants columns that the space leaves out, everybody keeps their own value; ``guests`` are people who are not in
    the table. With an ``anonymity`` nothing that is recommended is taken from fewer people than that.
    """
    from reap.models.files import load_model

    kind = engine_class(decision.engine)
    if anonymity:
        kind = anonymous(kind, anonymity)
    decision.scale()  # says what is wrong before anything is trained
    table = read_table(data, decision)
    model, accuracy = None, None
    if decision.model:
        model = load_model(decision.model, allow_pickle=allow_pickle, trusted=decision.trust)
        if is_csv(data):
            kept = keeping(model, table.space, [data], guests=guests)
            table = table if kept is table.space else read_table(data, decision, kept)
        rest = table.X
    else:
        model, accuracy, rest = train(table, seed)
    target = class_of(model, decision.target)
    made = fitted(kind, model, table.space, target, decision, table.X, table.y, seed)
    fine = made.classifier_.accepts(table.space.encode(rest))
    return Setup(made, table.X, rest[~fine], accuracy)


def fitted(
    kind: Any, model: Any, space: Any, target: Any, accepted: DecisionOptions, X: Frame, y: Any, seed: int
) -> Any:
    """Return an engine fitted on rows X; y has 1 for favourable, or is None where no labels are at hand."""
    settings, labels = accepted.holding(model, target, y)
    settings |= {**accepted.scale(), "margin": accepted.margin or 0.0, "random_state": seed}
    return kind(model, space, target=target, **settings).fit(X, labels)


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


def read_table(data: str, decision: DecisionOptions, space: ActionSpace | None = None) -> Any:
    """Return a data set by its name, or of a CSV file with its label; with a space, that of a file, or the set's own."""
    import reap

    own = space or (reap.ActionSpace.load(decision.space) if decision.space else None)
    if not is_csv(data):
        loaded = reap.datasets.load(data)
        return loaded if own is None else replace(loaded, space=own)
    if decision.label is None:
        raise InputError(
            f"which column of {data} is the decision? Name it with --label, and its favourable value with --favourable"
        )
    return reap.datasets.from_csv(data, label=decision.label, space=own, favourable=decision.favourable)


def train(table: Any, seed: int) -> tuple[Any, float, Frame]:
    """Train the paper's network on four fifths of the rows; return it, its accuracy, and the other fifth.

    It is not shown what the law may keep out of a decision, such as sex or age. What is missing takes the median.
    """
    import warnings

    import numpy as np
    from sklearn.compose import ColumnTransformer
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    from reap.space.table import doubtful

    if table.y.nunique() < 2:
        raise InputError(
            "the label has one class only; a model needs rows of both, favourable = 1 and other = 0"
        )
    X, rest, y, y_rest = train_test_split(table.X, table.y, test_size=0.2, stratify=table.y, random_state=42)
    network = MLPClassifier((20, 50, 20), early_stopping=len(X) > 5000, max_iter=300, random_state=seed)
    gaps = bool(np.isnan(table.space.encode(table.X)).any())
    filled = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
    space = table.space
    traits = {feature.name for feature in doubtful(space.features)}
    columns = [
        np.arange(space.dimension)[block] for name, block in space.slices.items() if name not in traits
    ]
    shown = (
        [ColumnTransformer([("shown", "passthrough", np.concatenate(columns))])] if traits and columns else []
    )
    model = make_pipeline(space.encoder(), *filled, *shown, network)
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


# columns that a model wants and the space leaves out, such as an ID ---------------------------------------


def keeping(
    model: Any, space: ActionSpace, tables: Sequence[str | Path], *, guests: bool = False
) -> ActionSpace:
    """Return the space with the columns that the model reads beside its own: everybody keeps their own value.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    space : ActionSpace
    tables : CSV or Parquet files
        Of everybody who is to be served.
    guests : bool
        Whether people come who are in none of the tables: nobody's ID among a hundred others says what theirs would do.
    """
    import pandas

    from reap.models import wanted

    names = wanted(model, space)
    found = [_columns(Path(table), names) for table in tables] if names else []
    if not found or any(frame is None for frame in found):
        return space  # what is missing is said where the model is wrapped
    made = space.keeping(pandas.concat(found, ignore_index=True))
    named = [f.name for f in made.features[len(space.features) :] if f.kind == "ordinal"]
    if guests and named:
        raise InputError(
            f"the model reads {named[0]!r}, which is another text for nearly everybody, so it cannot tell what to do with "
            "somebody new; train it without this column"
        )
    text = f"The model reads {', '.join(names)} beside the features of the space: everybody keeps their own value."
    typer.echo(text, err=True)
    return made


def _columns(path: Path, names: list[str]) -> Frame | None:
    """Return some columns of a file, of any number of rows; None where one is missing."""
    import pandas

    from reap.batch.tables import ParquetFiles

    if is_csv(path.name):
        some = pandas.read_csv(
            path, usecols=lambda name: name in names, on_bad_lines="skip", encoding_errors="replace"
        )
        return some[names] if set(names) <= set(some) else None
    table = ParquetFiles(path)
    if not set(names) <= set(table.columns):
        return None
    return pandas.concat([frame[names] for frame in table.frames(100_000)], ignore_index=True)


def is_csv(name: str) -> bool:
    """Return whether a name is that of a CSV file."""
    return name.lower().endswith((".csv", ".csv.gz"))
