"""KServe's explain, through KServe's own client over loopback, beside a predictor that is reached by URL."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

import reap

pytest.importorskip("fastapi")


class Predictor(BaseHTTPRequestHandler):
    """Serves a model in both protocols, and counts how often it is asked."""

    model, calls, broken = None, 0, ""

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).calls += 1
        if self.broken:
            self.send_response(500)
            self.end_headers()
            self.wfile.write(self.broken.encode())
            return
        if self.path.startswith("/v2"):
            rows = pd.DataFrame({t["name"]: t["data"] for t in said["inputs"]})
        else:
            rows = pd.DataFrame(said["instances"])
        found = self.model.predict_proba(rows)[:, 1].tolist()
        output = {"name": "p", "shape": [len(found)], "datatype": "FP64", "data": found}
        answer = {"outputs": [output]} if self.path.startswith("/v2") else {"predictions": found}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def predictor(german_engine):
    Predictor.model = german_engine.model
    server = ThreadingHTTPServer(("127.0.0.1", 0), Predictor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def remote(predictor):
    from reap.doors.kserve import RemoteModel

    Predictor.broken = ""
    return lambda **settings: RemoteModel(predictor, "loans", **settings)


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_a_model_by_url_scores_as_the_model_itself(remote, german, german_engine, protocol):
    rows = german.X.head(250)
    before = Predictor.calls
    scores = remote(protocol=protocol, batch=100)(rows)
    assert Predictor.calls - before == 3
    np.testing.assert_allclose(scores, german_engine.model.predict_proba(rows)[:, 1], atol=1e-12)


def test_what_a_predictor_does_wrong_is_a_sentence(remote, german):
    from reap.doors.kserve import RemoteModel

    rows = german.X.head(2)
    with pytest.raises(reap.InputError, match="cannot be reached"):
        RemoteModel("http://127.0.0.1:9", "loans", timeout=2)(rows)
    model = remote()
    Predictor.broken = "out of memory"
    with pytest.raises(reap.InputError, match="refused: 500 out of memory"):
        model(rows)
    Predictor.broken = ""
    with pytest.raises(reap.InputError, match="give v1 or v2"):
        remote(protocol="grpc")


@pytest.fixture(scope="module")
def explainer(predictor, german, tmp_path_factory):
    """The container's command, as a process of its own, beside the predictor."""
    folder = tmp_path_factory.mktemp("kserve")
    german.space.save(folder / "space.toml")
    german.X.head(300).to_csv(folder / "rows.csv", index=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "model_name": "loans",
        "predictor_host": predictor.removeprefix("http://"),
        "space": folder / "space.toml",
        "rows": folder / "rows.csv",
        "http_port": port,
    }
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen([sys.executable, "-m", "reap.doors.kserve", *words])
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{url}/v2/health/ready", timeout=1)
            break
        except OSError:
            assert process.poll() is None, "the explainer ended"
            time.sleep(0.2)
    yield url
    process.terminate()
    process.wait(10)


def people(german, german_engine, refused):
    rows = german.X.loc[[refused]]
    return json.loads(rows.to_json(orient="records")), german_engine.recommend(rows)


def posted(url, said):
    request = urllib.request.Request(url, json.dumps(said).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_explanations_in_both_protocols_are_valid_plans(explainer, german, german_engine, refused):
    instances, expected = people(german, german_engine, refused)
    status, said = posted(f"{explainer}/v1/models/loans:explain", {"instances": instances})
    assert status == 200
    (first,) = said["explanations"]
    assert first["plan"]["valid"]
    assert first["reasons"]
    target = pd.DataFrame([first["plan"]["rows"][-1]])[list(german.X.columns)]
    assert german_engine.model.predict(target)[0] == 1
    assert bool(expected["recourse_valid"].iloc[0])
    tensors = [
        {
            "name": name,
            "shape": [1],
            "datatype": "FP64" if isinstance(value, int | float) else "BYTES",
            "data": [value],
        }
        for name, value in instances[0].items()
    ]
    status, said = posted(f"{explainer}/v2/models/loans/explain", {"id": "7", "inputs": tensors})
    assert (status, said["id"]) == (200, "7")
    assert json.loads(said["outputs"][0]["data"][0]) == first


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({}, "instances"),
        ({"instances": []}, "at least one"),
        ({"instances": [{"duration": 12}]}, "lacks"),
        ({"instances": [[1, 2]]}, "list of the"),
    ],
)
def test_bad_instances_are_refused_with_a_sentence(explainer, said, sentence):
    status, told = posted(f"{explainer}/v1/models/loans:explain", said)
    assert status == 400
    assert sentence in told["error"]


def test_it_does_not_start_without_a_predictor(german, tmp_path):
    german.space.save(tmp_path / "space.toml")
    german.X.head(50).to_csv(tmp_path / "rows.csv", index=False)
    words = f"--model_name loans --predictor_host 127.0.0.1:9 --space {tmp_path}/space.toml --rows {tmp_path}/rows.csv"
    done = subprocess.run(
        [sys.executable, "-m", "reap.doors.kserve", *words.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.extras
@pytest.mark.filterwarnings("default")
def test_kserves_own_client_is_answered(explainer, german, german_engine, refused):
    kserve = pytest.importorskip("kserve")
    instances, _expected = people(german, german_engine, refused)

    async def asked():
        client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v1"))
        ready = await client.is_model_ready(explainer, "loans")
        found = await client.explain(explainer, "loans", data={"instances": instances})
        await client.close()
        return ready, found

    ready, found = asyncio.run(asked())
    assert ready
    assert found["explanations"][0]["plan"]["valid"]
