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
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from reap import __version__
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.recourse import Engine, Recourse
from reap.space import ActionSpace

#: Rows that a predictor is asked about at once, seconds until it is given up, and rows that one call may bring.
BATCH, PATIENCE, MOST = 1000, 30.0, 1000
Protocol = Literal["v1", "v2"]


class RemoteModel:
    """A model that is asked by URL, as a function from a frame to scores: ``reap.Recourse(RemoteModel(…), space)``.

    Parameters
    ----------
    url : str
        Of the predictor: ``http://loans-predictor``.
    name : str
        Of the model there.
    protocol : {"v1", "v2"}
        "v1": instances are objects, a prediction is a number, or probabilities of which the last is the favourable class's.
        "v2": a tensor a column; the first output is read in the same way.
    batch : int
        Rows of a call at most.
    timeout : float
        Seconds until a call is given up.
    """

    def __init__(
        self, url: str, name: str, *, protocol: Protocol = "v1", batch: int = BATCH, timeout: float = PATIENCE
    ) -> None:
        if protocol not in ("v1", "v2"):
            raise InputError(f"protocol is {protocol!r}; give v1 or v2")
        if batch < 1:
            raise InputError(f"batch is {batch}; give at least 1 row")
        self.url, self.name, self.protocol = url.rstrip("/"), name, protocol
        self.batch, self.timeout = batch, timeout

    def __call__(self, rows: Frame) -> Array:
        """Return the scores (n,) of rows."""
        parts = [rows.iloc[i : i + self.batch] for i in range(0, len(rows), self.batch)]
        return np.concatenate([self._asked(part) for part in parts]) if parts else np.empty(0)

    def _asked(self, rows: Frame) -> Array:
        if self.protocol == "v1":
            place, said = f"/v1/models/{self.name}:predict", {"instances": _objects(rows)}
        else:
            place, said = f"/v2/models/{self.name}/infer", {"inputs": [_tensor(rows[c]) for c in rows]}
        answer = self._post(self.url + place, said)
        try:
            found = answer["predictions"] if self.protocol == "v1" else _of_tensor(answer["outputs"][0])
            scores = np.asarray(found, dtype=float)
        except (KeyError, IndexError, TypeError, ValueError):
            raise InputError(
                f"the predictor at {self.url} answered without scores: {str(answer)[:200]}"
            ) from None
        scores = scores[:, -1] if scores.ndim == 2 else scores
        if scores.shape != (len(rows),) or not np.isfinite(scores).all():
            raise InputError(
                f"the predictor at {self.url} was asked about {len(rows)} rows and answered with scores of shape {scores.shape}; "
                "it must give one finite number a row, or probabilities a class"
            )
        return scores

    def _post(self, url: str, said: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(
            url, json.dumps(said).encode(), {"content-type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            told = error.read()[:200].decode(errors="replace")
            raise InputError(f"the predictor at {url} refused: {error.code} {told}") from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"the predictor at {url} cannot be reached: {reason}") from None
        except ValueError:
            raise InputError(f"the predictor at {url} did not answer with JSON") from None


def runtime(engine: Engine, name: str) -> FastAPI:
    """Return the application that explains refusals by a fitted engine, under the name of a model.

    Run it with uvicorn, one process a core: engines are safe to share between threads.
    """
    app = FastAPI(title=f"ReAP explainer of {name}", version=__version__)
    columns = [feature.name for feature in engine.space.features]

    @app.exception_handler(InputError)
    def refused(_request: Request, error: InputError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=400)

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
        return {
            "name": name,
            "platform": "reap",
            "versions": [__version__],
            "inputs": inputs,
            "outputs": outputs,
        }

    # Not asynchronous: searches for plans run in the threads that FastAPI keeps for such functions.
    @app.post(f"/v1/models/{name}:explain")
    def explained(said: dict[str, Any]) -> dict[str, Any]:
        return {"explanations": explain(engine, _frame(said.get("instances"), columns))}

    @app.post(f"/v2/models/{name}/explain")
    def inferred(said: dict[str, Any]) -> dict[str, Any]:
        try:
            rows = pd.DataFrame({tensor["name"]: _of_tensor(tensor) for tensor in said["inputs"]})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError('give "inputs": a list of tensors of one length, one a column') from None
        told = [
            json.dumps(each, ensure_ascii=False) for each in explain(engine, _frame(_objects(rows), columns))
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


def _objects(rows: Frame) -> list[dict[str, Any]]:
    """Return rows as JSON objects; what is missing is null."""
    found: list[dict[str, Any]] = json.loads(rows.to_json(orient="records", double_precision=15))
    return found


def _tensor(column: Any) -> dict[str, Any]:
    """Return one column as a tensor of the Open Inference Protocol."""
    number = pd.api.types.is_numeric_dtype(column)
    data = column.astype(float).tolist() if number else column.astype(str).tolist()
    return {
        "name": column.name,
        "shape": [len(column)],
        "datatype": "FP64" if number else "BYTES",
        "data": data,
    }


def _of_tensor(tensor: Mapping[str, Any]) -> list[Any]:
    """Return the values of a tensor, (n,) or (n, k) as lists."""
    shape = [int(n) for n in tensor["shape"]]
    if len(shape) > 1 and shape[-1] == 1:  # a column is sent as (n, 1) too
        shape = shape[:-1]
    found: list[Any] = np.asarray(tensor["data"]).reshape(shape).tolist()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve an explainer of a model that a predictor serves; the options are those that KServe gives to containers."""
    parser = argparse.ArgumentParser(
        prog="python -m reap.doors.kserve", description=(main.__doc__ or "").split(";")[0]
    )
    parser.add_argument("--model_name", required=True)
    parser.add_argument("--predictor_host", required=True, help="host, host:port or URL of the predictor")
    parser.add_argument("--predictor_protocol", default="v1", choices=("v1", "v2"))
    parser.add_argument("--space", type=Path, required=True, help="the action space, TOML")
    parser.add_argument(
        "--rows", type=Path, required=True, help="CSV of people the model knows, without their decisions"
    )
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--http_port", type=int, default=8080)
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 in a container")
    given = parser.parse_args(arguments)
    url = given.predictor_host if "://" in given.predictor_host else f"http://{given.predictor_host}"
    model = RemoteModel(url, given.model_name, protocol=given.predictor_protocol)
    try:
        space = ActionSpace.load(given.space)
        rows = pd.read_csv(given.rows)
        engine = Recourse(model, space, threshold=given.threshold).fit(rows)
    except (InputError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    import uvicorn

    uvicorn.run(runtime(engine, given.model_name), host=given.host, port=given.http_port, log_level="warning")


if __name__ == "__main__":
    main()
