"""An explainer beside a model that is served: KServe's and MLServer's ``explain``, answered by plans.

The model stays where it is. A `RemoteModel` asks it for scores by URL, in batches; `runtime` puts an engine behind the paths
that KServe routes to an explainer::

    POST /v1/models/{name}:explain     {"instances": [{"income": 1200, …}, …]}     a plan for each
    POST /v2/models/{name}/explain     the same in the tensors of the Open Inference Protocol
    GET  /v1/models/{name}, /v2/health/live, /v2/health/ready, /v2/models/{name}, /v2/models/{name}/ready

``python -m reap.doors.kserve --model_name loans --predictor_host loans-predictor --space space.toml --rows people.csv`` is what
a container runs (``deploy/kserve.yaml``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.doors.predictor import PredictorError, RemoteModel, objects, of_tensor
from reap.recourse import Engine, Recourse
from reap.space import ActionSpace

#: Rows that one call may bring.
MOST = 1000
#: Said of a predictor that returns its verdicts: a search needs to know how near a row is.
LABELS = (
    "the predictor answers with labels, not with probabilities; set PREDICT_PROBA=true on KServe's scikit-learn server, or give "
    "--predictor_output predict_proba for MLServer's"
)


def runtime(engine: Engine, name: str) -> FastAPI:
    """Return the application that explains refusals by a fitted engine, under the name of a model.

    Run it with uvicorn, one process a core: engines are safe to share between threads.
    """
    app = FastAPI(title=f"ReAP explainer of {name}", version=__version__)
    columns = [feature.name for feature in engine.space.features]

    @app.exception_handler(InputError)
    def refused(_request: Request, error: InputError) -> JSONResponse:
        status = 502 if isinstance(error, PredictorError) else 400
        return JSONResponse({"error": str(error)}, status_code=status)

    @app.get("/v2/health/live")
    @app.get("/v2/health/ready")
    def alive() -> dict[str, bool]:
        return {"live": True, "ready": True}

    @app.get(f"/v1/models/{name}")
    @app.get(f"/v2/models/{name}/ready")
    def known() -> dict[str, Any]:
        return {"name": name, "ready": True}

    @app.get(f"/v2/models/{name}")
    def described() -> dict[str, Any]:
        inputs = [
            {"name": f.name, "datatype": "FP64" if f.is_number else "BYTES", "shape": [-1]}
            for f in engine.space.features
        ]
        outputs = [{"name": "explanation", "datatype": "BYTES", "shape": [-1]}]
        about = {"name": name, "platform": "reap", "versions": [__version__]}
        return {**about, "inputs": inputs, "outputs": outputs}

    # Not asynchronous: searches for plans run in the threads that FastAPI keeps for such functions.
    @app.post(f"/v1/models/{name}:explain")
    def explained(said: dict[str, Any]) -> dict[str, Any]:
        return {"explanations": explain(engine, _frame(said.get("instances"), columns))}

    @app.post(f"/v2/models/{name}/explain")
    def inferred(said: dict[str, Any]) -> dict[str, Any]:
        try:
            rows = pd.DataFrame({tensor["name"]: of_tensor(tensor) for tensor in said["inputs"]})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError('give "inputs": a list of tensors of one length, one a column') from None
        told = [
            json.dumps(each, ensure_ascii=False) for each in explain(engine, _frame(objects(rows), columns))
        ]
        output = {"name": "explanation", "datatype": "BYTES", "shape": [len(told)], "data": told}
        return {"model_name": name, **({"id": said["id"]} if "id" in said else {}), "outputs": [output]}

    return app


def explain(engine: Engine, rows: Frame) -> list[dict[str, Any]]:
    """Return for each row a plan in values and in words, and the principal reasons of its refusal."""
    told = []
    for i in range(len(rows)):
        x = rows.iloc[[i]]
        plan = engine.plans(x, np.eye(engine.space.dimension)[None])[0]
        reasons = [] if plan.status == "already_accepted" else [str(r) for r in engine.reasons(x)]
        told.append({"plan": plan.to_dict(standalone=False), "words": str(plan), "reasons": reasons})
    return told


def _frame(instances: Any, columns: Sequence[str]) -> Frame:
    """Return instances, objects or lists in the order of the columns, as a frame."""
    if not isinstance(instances, list) or not instances:
        raise InputError('give "instances": a list of at least one object with the columns as names')
    if len(instances) > MOST:
        raise InputError(f"{len(instances)} instances are too many for one call; give at most {MOST}")
    for each in instances:
        if isinstance(each, dict):
            missing = [c for c in columns if c not in each]
            if missing:
                raise InputError(f"an instance lacks {', '.join(missing)}")
        elif not isinstance(each, list) or len(each) != len(columns):
            raise InputError(
                f"an instance must be an object, or a list of the {len(columns)} columns {', '.join(columns)}"
            )
    rows = [each if isinstance(each, dict) else dict(zip(columns, each, strict=True)) for each in instances]
    return pd.DataFrame(rows)[list(columns)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve an explainer of a model that a predictor serves; the options are those that KServe gives to containers."""
    parser = argparse.ArgumentParser(
        prog="python -m reap.doors.kserve", description=(main.__doc__ or "").split(";")[0]
    )
    parser.add_argument("--model_name", required=True)
    parser.add_argument("--predictor_host", required=True, help="host, host:port or URL of the predictor")
    parser.add_argument("--predictor_protocol", default="v2", choices=("v2", "v1"))
    parser.add_argument(
        "--predictor_output", default="", help="of V2: predict_proba for MLServer's scikit-learn"
    )
    parser.add_argument("--space", type=Path, required=True, help="the action space, TOML")
    parser.add_argument(
        "--rows", type=Path, required=True, help="CSV of people the model knows, without their decisions"
    )
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--http_port", type=int, default=8080)
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 in a container")
    given = parser.parse_args(arguments)
    url = given.predictor_host if "://" in given.predictor_host else f"http://{given.predictor_host}"
    how = {"protocol": given.predictor_protocol, "output": given.predictor_output}
    try:
        model = RemoteModel(url, given.model_name, **how)
        space = ActionSpace.load(given.space)
        rows = pd.read_csv(given.rows)
        engine = Recourse(model, space, threshold=given.threshold).fit(rows)
        if np.isin(model(rows.head(MOST)), (0.0, 1.0)).all():
            raise InputError(LABELS)
    except (InputError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    import uvicorn

    uvicorn.run(runtime(engine, given.model_name), host=given.host, port=given.http_port, log_level="warning")


if __name__ == "__main__":
    main()
