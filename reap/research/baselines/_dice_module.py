"""Any model with a gradient as a torch module, for packages that want one. Imports torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from reap._typing import Ints
from reap.models.classifier import Smooth


class _Logit(torch.autograd.Function):  # type: ignore[misc]
    """The logit of a model, with the model's own gradient behind it."""

    @staticmethod
    def forward(ctx: Any, rows: Any, kernel: Smooth) -> Any:
        Z = rows.detach().cpu().numpy().astype(float)
        ctx.save_for_backward(torch.as_tensor(kernel.gradient(Z), dtype=rows.dtype))
        return torch.as_tensor(np.asarray(kernel.logit(Z)), dtype=rows.dtype)

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        (slope,) = ctx.saved_tensors
        return outer[0][:, None] * slope, None


class Module(torch.nn.Module):  # type: ignore[misc]
    """Probabilities (n, 1), or (1,) for one row, of rows whose columns stand in another order.

    Parameters
    ----------
    kernel : Smooth
    order : (d,)
        ``rows[:, order]`` has our columns in our order.
    """

    def __init__(self, kernel: Smooth, order: Ints) -> None:
        super().__init__()
        self.kernel, self.order = kernel, torch.as_tensor(np.asarray(order))

    def forward(self, rows: Any) -> Any:
        """Return the probability of the target."""
        several = rows.ndim == 2
        logits = _Logit.apply((rows if several else rows[None])[:, self.order], self.kernel)
        return torch.sigmoid(logits)[:, None] if several else torch.sigmoid(logits)
