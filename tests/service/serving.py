"""``reap serve`` as a user starts it, in processes of its own; for tests and for the load test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path


def start(
    folder: Path, *options: str, workers: int = 1, **environment: str
) -> tuple[subprocess.Popen[str], str]:
    """Serve the model in a folder; return the process and its address once every worker is up."""
    command = [
        sys.executable,
        "-m",
        "reap",
        "serve",
        "--port",
        "0",
        "--model",
        str(folder / "model.skops"),
    ]
    allowed = {"REAP_ALLOW_TRAITS": '["personal_status", "age"]'}  # tests serve models of all columns
    return launch([*command, "--workers", str(workers), *options], folder, workers, allowed | environment)


def launch(
    command: list[str], folder: Path, workers: int, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[str], str]:
    """Run a command that serves, in a folder; return the process and its address once every worker is up."""
    log = folder / f"log-{time.monotonic_ns()}"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    address = next(
        (line.split()[-1] for line in process.stdout or () if line.startswith("Listening on ")), ""
    )
    for _ in range(1200):
        if not address or process.poll() is not None:
            break
        if log.read_text().count('"event": "started"') >= workers:
            return process, address
        time.sleep(0.1)
    process.kill()
    process.communicate()
    raise RuntimeError(f"the service did not start: {log.read_text()}")


def stop(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> int:
    """Stop a server and return its exit code."""
    if process.poll() is None:
        process.send_signal(how)
    process.communicate(timeout=120)
    return process.returncode
