# needs: httpx, fastapi
# %% [markdown]
# # An explainer beside a served model
# A model that KServe or MLServer serves answers with a yes or a no. Its explainer answers what to change. The model stays
# where it is: the explainer asks it by URL.

# %%
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.doors.kserve import runtime
from reap.doors.predictor import RemoteModel

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)

# %% [markdown]
# Stands for the predictor: a server of the protocol V1, on this machine.


# %%
class Predictor(BaseHTTPRequestHandler):
    """Answers a list of rows with a list of probabilities."""

    def do_POST(self) -> None:  # noqa: D102
        rows = json.loads(self.rfile.read(int(self.headers["content-length"])))["instances"]
        scores = model.predict_proba(pd.DataFrame(rows))[:, 1].tolist()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"predictions": scores}).encode())

    def log_message(self, *_: object) -> None:  # noqa: D102
        pass


predictor = ThreadingHTTPServer(("127.0.0.1", 0), Predictor)
threading.Thread(target=predictor.serve_forever, daemon=True).start()

# %% [markdown]
# The engine asks that server, a thousand rows at a time, and stands behind the paths that KServe calls.

# %%
remote = RemoteModel(f"http://127.0.0.1:{predictor.server_port}", "loans", protocol="v1")
engine = reap.Recourse(remote, data.space).fit(data.X)
explainer = runtime(engine, "loans")  # in a container: python -m reap.doors.kserve
refused = data.X[model.predict(data.X) == 0].head(1)


async def explained() -> str:
    """Ask the explainer as KServe would, without a network between."""
    transport = httpx.ASGITransport(app=explainer)
    async with httpx.AsyncClient(transport=transport, base_url="http://explainer") as client:
        rows = {"instances": refused.to_dict("records")}
        answer = await client.post("/v1/models/loans:explain", json=rows)
    return str(answer.json()["explanations"][0]["words"])


print(asyncio.run(explained()))

# %% [markdown]
# `deploy/kserve.yaml` is the manifest of both beside each other.

# %%
predictor.shutdown()
predictor.server_close()
