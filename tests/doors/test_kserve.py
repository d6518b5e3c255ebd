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

    model, calls, broken, labels, said = None, 0, (), False, {}

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).calls, type(self).said = self.calls + 1, said
        if self.broken:
            code, text = self.broken
            self.send_response(code)
            self.end_headers()
            self.wfile.write(text.encode())
            return
        if self.path.startswith("/v2"):
            rows = pd.DataFrame({t["name"]: t["data"] for t in said["inputs"]})
        else:
            rows = pd.DataFrame(said["instances"])
        found = (self.model.predict(rows) if self.labels else self.model.predict_proba(rows)[:, 1]).tolist()
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
    from reap.doors.predictor import RemoteModel

    yield lambda **settings: RemoteModel(predictor, "loans", **settings)
    Predictor.broken, Predictor.labels = (), False


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_a_model_by_url_scores_as_the_model_itself(remote, german, german_engine, protocol):
    rows = german.X.head(250)
    before = Predictor.calls
    scores = remote(protocol=protocol, batch=100)(rows)
    assert Predictor.calls - before == 3
    np.testing.assert_allclose(scores, german_engine.model.predict_proba(rows)[:, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((500, "out of memory"), "refused: 500 out of memory"),
        ((200, "<html>"), "did not answer with JSON"),
        ((200, '{"detail": "no"}'), "answered without scores"),
        ((200, '{"predictions": [0.5]}'), "asked about 2 rows and answered with scores of shape"),
        ((200, '{"predictions": [0.5, null]}'), "one finite number a row"),
        ((200, '{"predictions": ["yes", "no"]}'), "answered without scores"),
    ],
)
def test_what_a_predictor_does_wrong_is_a_sentence(remote, german, answer, sentence):
    from reap.doors.predictor import PredictorError

    model, Predictor.broken = remote(protocol="v1"), answer
    with pytest.raises(PredictorError, match=sentence):
        model(german.X.head(2))


def test_a_predictor_that_is_not_there_is_a_sentence(german):
    from reap.doors.predictor import RemoteModel

    with pytest.raises(reap.InputError, match="cannot be reached"):
        RemoteModel("http://127.0.0.1:9", "loans", timeout=2)(german.X.head(2))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"url": "loans-predictor:80"}, "must start with http"),
        ({"protocol": "grpc"}, "give v1 or v2"),
        ({"batch": 0}, "batch is 0"),
        ({"timeout": 0}, "timeout 0"),
    ],
)
def test_a_door_that_cannot_open_is_refused_at_once(settings, sentence):
    from reap.doors.predictor import RemoteModel

    with pytest.raises(reap.InputError, match=sentence):
        RemoteModel(**{"url": "http://127.0.0.1:9", "name": "loans", **settings})


def test_what_is_missing_is_null_in_both_protocols(remote, german):
    rows = german.X.head(2).astype({"duration": float, "status": object})
    rows.iloc[0, [rows.columns.get_loc("duration"), rows.columns.get_loc("status")]] = np.nan
    for protocol in ("v1", "v2"):
        Predictor.broken = (
            200,
            json.dumps({"predictions": [0, 1], "outputs": [{"shape": [2], "data": [0, 1]}]}),
        )
        remote(protocol=protocol)(rows)
        said = json.dumps(Predictor.said)
        assert "NaN" not in said
        assert "nan" not in said.lower()
        assert said.count("null") == 2


@pytest.mark.extras
@pytest.mark.filterwarnings("default")
def test_kserves_own_server_reads_our_rows(remote, german):
    kserve = pytest.importorskip("kserve")
    from kserve.utils.utils import get_predict_input

    Predictor.broken = (200, json.dumps({"outputs": [{"shape": [3], "data": [0, 1, 0.5]}]}))
    rows = german.X.head(3)
    remote()(rows)
    body = json.dumps(Predictor.said).encode()
    read = get_predict_input(kserve.InferRequest.from_bytes(body, len(body), "loans"))
    pd.testing.assert_frame_equal(read, rows.reset_index(drop=True), check_dtype=False)


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


def test_a_predictor_that_fails_is_not_the_askers_fault(remote, explainer, german, german_engine, refused):
    instances, _expected = people(german, german_engine, refused)
    Predictor.broken = (503, "loading")
    instances[0]["amount"] = 1 + instances[0]["amount"]  # nobody whom the engine remembers
    status, told = posted(f"{explainer}/v1/models/loans:explain", {"instances": instances})
    assert status == 502
    assert "refused: 503 loading" in told["error"]


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


@pytest.mark.parametrize(
    ("there", "sentence"), [(False, "cannot be reached"), (True, "labels, not with probabilities")]
)
def test_it_does_not_start_beside_a_predictor_that_is_not_one(remote, german, tmp_path, there, sentence):
    german.space.save(tmp_path / "space.toml")
    german.X.head(50).to_csv(tmp_path / "rows.csv", index=False)
    Predictor.labels = True
    host = remote().url if there else "127.0.0.1:9"
    words = (
        f"--model_name loans --predictor_host {host} --space {tmp_path}/space.toml --rows {tmp_path}/rows.csv"
    )
    done = subprocess.run(
        [sys.executable, "-m", "reap.doors.kserve", *words.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
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
