# needs: httpx, fastapi
# %% [markdown]
# # The REST client
# The service on this machine, and a client that knows nothing of Python objects: plain JSON over HTTP.

# %%
import atexit
import os
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any
from uuid import uuid4

import httpx

# %% [markdown]
# ## A service
# `reap serve` with the embedded example. Yours gets `--model`, `--space`, `--data` and a database: see
# [the service](../service.md).

# %%
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
folder = tempfile.TemporaryDirectory()
service = subprocess.Popen(
    [
        sys.executable,
        "-m",
        "reap",
        "serve",
        "--port",
        str(port),
        "--database",
        f"sqlite:///{folder.name}/reap.db",
        "--workers",
        "1",
    ],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    env={**os.environ, "OMP_NUM_THREADS": "1"},
)
atexit.register(service.kill)  # whatever happens below
api = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60)
while service.poll() is None:  # it trains its model, and that model's retrainings, before it answers
    try:
        if api.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
            break
    except httpx.TransportError:
        pass
    time.sleep(0.2)

# %% [markdown]
# ## What a row looks like

# %%
schema = api.get("/schema").raise_for_status().json()
for field in schema["features"][:4]:
    print({key: field[key] for key in ("name", "label", "kind", "unit", "may_change")})

# %% [markdown]
# ## A session
# The lender creates it with the applicant's row. An answer names the question, the revision it was seen at, and a key of the
# client's choice: sent twice, it counts once.

# %%
row = {
    "status": "0 to 200 DM", "duration": 36, "amount": 3990, "savings": "none or unknown", "employment": "less than 1 year",
    "personal_status": "married or divorced woman", "guarantor": "none", "age": 29,
    "other_plans": "at a bank", "housing": "owned",
}  # fmt: skip


def call(method: str, path: str, **body: Any) -> Any:
    """One request; the service's own sentence where it refuses."""
    answer = api.request(method, path, json=body or None)
    if answer.is_error:
        raise RuntimeError(answer.json()["error"])
    return answer.json()


new = call("POST", "/sessions", subject=row, questions=3)
state, token = new["state"], new["token"]
while (question := state["question"]) is not None:
    print(question["asks"], " | ".join(option["title"] for option in question["options"]))
    said = {"question": question["id"], "revision": state["revision"], "choice": 0, "key": uuid4().hex}
    state = call("POST", f"/sessions/{token}/answers", **said)["state"]

# %% [markdown]
# ## The plan

# %%
plan = call("GET", f"/sessions/{token}/plan")
print(plan["status"], plan["valid"])
for change in plan["changes"]:
    print("-", change["text"])

# %% [markdown]
# ## Bad input is a sentence

# %%
print(api.post("/sessions", json={"subject": {**row, "duration": "long"}}).json())

# %% [markdown]
# ## Delete my data

# %%
print(api.delete(f"/sessions/{token}").status_code, api.get(f"/sessions/{token}").status_code)
api.close()
service.terminate()
service.wait()
folder.cleanup()
