"""A service whose model is ready: ``python benchmarks/_served.py CASE DATABASE WORKERS``.

``reap serve`` fits its engine at every start, with twenty retrainings of the model: most of a minute before the first answer.
A load test has that behind it: here the fitted case comes from a file, as it does to the workers of ``reap serve``.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from reap.service.app import run
from reap.service.settings import Settings

if __name__ == "__main__":
    file, database, workers = sys.argv[1:]
    settings = Settings.read().model_copy(update={"database_url": database})
    case = pickle.loads(Path(file).read_bytes())  # written by the benchmark a moment ago
    run(case, settings, host="127.0.0.1", port=0, workers=int(workers))
