"""Speed, measured against the peers in the same run: ``python -m benchmarks``.

Importing this package pins the linear algebra to one thread, so it has to come before NumPy.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"
