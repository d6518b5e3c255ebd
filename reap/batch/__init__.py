"""Many subjects at once: on the processes of one machine or on a Dask cluster, into a file that can be resumed."""

from __future__ import annotations

from reap.batch.answers import answers_of
from reap.batch.running import Result, run

__all__ = ["Result", "answers_of", "run"]
