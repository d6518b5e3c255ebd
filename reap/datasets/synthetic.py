"""The paper's synthetic data (appendix B): two numbers and a polynomial."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reap._typing import Frame


def table(rows: int = 1_000, seed: int = 42) -> Frame:
    """Return rows uniform on [−2, 4] × [−2, 7], label 1 where ``x2 ≥ 1 + x1 + 2 x1² + x1³ − x1⁴``.

    Examples
    --------
    >>> table(2).round(3)
          x1     x2  label
    0  2.644  1.950      1
    1  3.152  4.276      1
    """
    rng = np.random.default_rng(seed)
    x1, x2 = rng.uniform([-2.0, -2.0], [4.0, 7.0], size=(rows, 2)).round(6).T
    label = x2 >= 1 + x1 + 2 * x1**2 + x1**3 - x1**4
    return pd.DataFrame({"x1": x1, "x2": x2, "label": label.astype("int64")})
