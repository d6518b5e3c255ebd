"""Words shared by every layer."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: Real vectors and matrices; the docstring of each function gives the shape.
Array: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.intp]
#: pandas has no stubs in our type check: a frame or a row is what its name says.
Frame: TypeAlias = Any
Series: TypeAlias = Any
#: What fixes the randomness of a call: a seed, or a generator handed in.
Seed: TypeAlias = int | np.random.Generator
