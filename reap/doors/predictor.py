"""A model that a predictor serves, asked by URL: KServe's and MLServer's protocol V2, or V1 for predictors of your own."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
import pandas as pd

from reap._errors import InputError, whole
from reap._typing import Array, Frame

#: Rows that a predictor is asked about at once, and seconds until it is given up.
BATCH, PATIENCE = 1000, 30.0
Protocol = Literal["v1", "v2"]


class PredictorError(InputError):
    """The predictor that holds the model did not answer as a model does."""


class RemoteModel:
    """A model that is asked by URL, as a function from a frame to scores: ``reap.Recourse(RemoteModel(…), space)``.

    Parameters
    ----------
    url : str
        Of the predictor: ``http://loans-predictor``.
    name : str
        Of the model there.
    protocol : {"v2", "v1"}
        "v2": a tensor a column, as the servers of KServe and MLServer read tables; the first output is taken. "v1": instances are
        objects, for predictors of your own. Either answers with a number a row, or with probabilities of which the last is the
        favourable class's.
    output : str
        The output to ask for by protocol V2: "predict_proba" of MLServer's scikit-learn models, which else return labels.
    batch : int
        Rows of a call at most.
    timeout : float
        Seconds without an answer until a call is given up.
    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        protocol: Protocol = "v2",
        output: str = "",
        batch: int = BATCH,
        timeout: float = PATIENCE,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(f"the URL of the predictor is {url!r}; it must start with http:// or https://")
        if protocol not in ("v1", "v2"):
            raise InputError(f"protocol is {protocol!r}; give v1 or v2")
        if whole("batch", batch) is None or not timeout > 0:
            raise InputError(f"batch is {batch!r} and timeout {timeout!r}; both must be above 0")
        self.url, self.name, self.protocol, self.output = url.rstrip("/"), name, protocol, output
        self.batch, self.timeout = batch, timeout

    def __call__(self, rows: Frame) -> Array:
        """Return the scores (n,) of rows."""
        parts = [rows.iloc[i : i + self.batch] for i in range(0, len(rows), self.batch)]
        return np.concatenate([self._asked(part) for part in parts]) if parts else np.empty(0)

    def _asked(self, rows: Frame) -> Array:
        said: dict[str, Any] = {"instances": objects(rows)}
        if self.protocol == "v2":
            wanted = {"outputs": [{"name": self.output}]} if self.output else {}
            said = {
                "parameters": {"content_type": "pd"},
                "inputs": [_tensor(rows[c]) for c in rows],
                **wanted,
            }
        verb = (
            f"v2/models/{quote(self.name)}/infer"
            if self.protocol == "v2"
            else f"v1/models/{quote(self.name)}:predict"
        )
        answer = self._post(f"{self.url}/{verb}", said)
        try:
            found = answer["predictions"] if self.protocol == "v1" else of_tensor(answer["outputs"][0])
            scores = np.asarray(found, dtype=float)
        except (KeyError, IndexError, TypeError, ValueError):
            raise PredictorError(
                f"the predictor at {self.url} answered without scores: {str(answer)[:200]}"
            ) from None
        scores = scores[:, -1] if scores.ndim == 2 else scores
        if scores.shape != (len(rows),) or not np.isfinite(scores).all():
            raise PredictorError(
                f"the predictor at {self.url} was asked about {len(rows)} rows and answered with scores of shape {scores.shape}; "
                "it must give one finite number a row, or probabilities a class"
            )
        return scores

    def _post(self, url: str, said: Mapping[str, Any]) -> Any:
        head = {"content-type": "application/json"}
        try:
            request = urllib.request.Request(url, json.dumps(said).encode(), head, method="POST")
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            told = error.read()[:200].decode(errors="replace")
            hint = (
                "; servers of KServe and MLServer read tables by protocol v2 only"
                if self.protocol == "v1"
                else ""
            )
            raise PredictorError(f"the predictor at {url} refused: {error.code} {told}{hint}") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise PredictorError(f"the predictor at {url} cannot be reached: {reason}") from None
        except ValueError:
            raise PredictorError(f"the predictor at {url} did not answer with JSON") from None


def objects(rows: Frame) -> list[dict[str, Any]]:
    """Return rows as JSON objects; what is missing is null."""
    found: list[dict[str, Any]] = json.loads(rows.to_json(orient="records", double_precision=15))
    return found


def _tensor(column: Any) -> dict[str, Any]:
    """Return one column as a tensor of the Open Inference Protocol; what is missing is null."""
    number = pd.api.types.is_numeric_dtype(column)
    kind = {"datatype": "FP64"} if number else {"datatype": "BYTES", "parameters": {"content_type": "str"}}
    data = [None if pd.isna(v) else float(v) if number else str(v) for v in column]
    return {"name": column.name, "shape": [len(column), 1], **kind, "data": data}


def of_tensor(tensor: Mapping[str, Any]) -> list[Any]:
    """Return the values of a tensor, (n,) or (n, k) as lists."""
    shape = [int(n) for n in tensor["shape"]]
    if len(shape) > 1 and shape[-1] == 1:  # a column is sent as (n, 1) too
        shape = shape[:-1]
    found: list[Any] = np.asarray(tensor["data"]).reshape(shape).tolist()
    return found
