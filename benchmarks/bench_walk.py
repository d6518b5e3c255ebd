"""The walk of one session through our own code: modules, calls, and how deep they stand in one another.

Counts, not times: how much somebody has to hold in mind who follows a person from ``elicit`` to ``recommend``.
``python -m benchmarks walk`` prints each stage for a boosted pipeline and for a network.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap
from benchmarks._harness import Row

_OWN = str(Path(reap.__file__).parent)
#: What the design asks for: modules of a session of five questions, and frames of our own at the first question.
MODULES, DEPTH = 40, 16


class Walk:
    """Counts our own calls while it is entered.

    Attributes
    ----------
    calls : Counter of (module, function)
    depth : int
        The most of our own frames that stood in one another.
    """

    def __init__(self) -> None:
        self.calls, self.depth, self._stack = Counter[tuple[str, str]](), 0, 0

    def __enter__(self) -> Self:
        sys.setprofile(self._seen)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.setprofile(None)

    def _seen(self, frame: FrameType, event: str, _argument: Any) -> None:
        name = frame.f_code.co_filename
        if not name.startswith(_OWN) or event not in ("call", "return"):
            return
        if event == "return":
            self._stack = max(self._stack - 1, 0)
            return
        self._stack += 1
        self.depth = max(self.depth, self._stack)
        self.calls[name[len(_OWN) + 1 :], frame.f_code.co_qualname] += 1

    @property
    def modules(self) -> set[str]:
        """The files that were run through."""
        return {module for module, _ in self.calls}


def engines() -> dict[str, tuple[reap.Recourse, Any]]:
    """A boosted pipeline on the frame as it is, and a network on the encoder; each with somebody whom it refuses."""
    data = reap.datasets.load("german")
    texts = [name for name in data.X.columns if data.X[name].dtype.kind not in "iuf"]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    raw = make_column_transformer((codes, texts), remainder="passthrough")
    network = make_pipeline(data.space.encoder(), MLPClassifier((20, 50, 20), max_iter=100, random_state=0))
    found = {}
    for name, model in (
        ("boosted", make_pipeline(raw, HistGradientBoostingClassifier(random_state=0))),
        ("network", network),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(data.X, data.y)
        refused = data.X[model.predict(data.X) == 0]
        found[name] = reap.Recourse(model, data.space).fit(data.X), refused.iloc[[0]]
    return found


def walked(engine: reap.Recourse, x: Any) -> dict[str, Walk]:
    """Hold a session of five questions; return the walk of each stage, and of all of it."""
    _ = reap.Elicitation  # imported beforehand: a module that is only imported is not walked through
    stages = {name: Walk() for name in ("elicit", "first ask", "answer", "next ask", "recommend")}
    with stages["elicit"]:
        session = engine.elicit(x, questions=5)
    with stages["first ask"]:
        question = session.ask()
    while question is not None:
        with stages["answer"]:
            session.answer(0)
        with stages["next ask"]:
            question = session.ask()
    with stages["recommend"]:
        session.recommend()
    whole = Walk()
    for stage in stages.values():
        whole.calls += stage.calls
        whole.depth = max(whole.depth, stage.depth)
    return stages | {"session": whole}


def run(quick: bool) -> list[Row]:
    """One row a stage: modules, with calls and depth beside them; and the two figures that the design names."""
    rows = []
    for name, (engine, x) in engines().items():
        walks = walked(engine, x)
        for stage, walk in walks.items():
            if stage != "session":
                note = f"{walk.depth} deep, {sum(walk.calls.values()):,} calls of {len(walk.calls)} functions"
                rows.append(Row(f"walk, {name}: {stage}", len(walk.modules), "modules", note=note))
        whole, first = walks["session"], walks["first ask"]
        packages = Counter(module.partition("/")[0] for module in whole.modules)
        note = ", ".join(f"{package} {count}" for package, count in packages.most_common())
        rows.append(
            Row.limit(
                f"walk, {name}: session of five questions",
                len(whole.modules),
                "modules",
                at_most=MODULES,
                note=note,
            )
        )
        rows.append(Row.limit(f"walk, {name}: depth of the first ask", first.depth, "frames", at_most=DEPTH))
    return rows
