"""Torch modules on encoded tensors. Torch is imported only where a module was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.declared import TorchModel


@dataclass(frozen=True, eq=False)
class TorchKernel(Smooth):
    """The logit of a torch module and its gradient by autograd.

    Parameters
    ----------
    model : TorchModel
        The module, returning (n,) or (n, 1) for class 1 or (n, k) for k classes, and what it returns.
    index : int
        The target class.
    """

    model: TorchModel
    index: int

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        import torch

        with torch.no_grad():
            return self._numpy(self._logit(self._tensor(Z)))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""
        import torch

        # Rows do not mix (the module is in eval mode), so the gradient of the sum is every row's own.
        inputs = self._tensor(Z).requires_grad_(True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(self._logit(inputs).sum(), inputs)
        return self._numpy(slope)

    def _tensor(self, Z: Array) -> Any:
        import torch

        like = next(self.model.module.parameters(), None)
        dtype, device = (torch.float32, "cpu") if like is None else (like.dtype, like.device)
        return torch.tensor(np.asarray(Z), dtype=dtype, device=device)

    def _logit(self, inputs: Any) -> Any:
        import torch

        module = self.model.module
        if module.training:
            module.eval()  # dropout and batch statistics would make the answer depend on chance and company
        out = module(inputs)
        if out.ndim == 2 and out.shape[1] == 1:
            out = out[:, 0]
        classes = 2 if out.ndim == 1 else out.shape[1]
        if out.ndim > 2 or len(out) != len(inputs):
            raise InputError(f"the torch module returned shape {tuple(out.shape)} for {len(inputs)} rows")
        if self.index not in range(classes):
            raise InputError(f"there is no class {self.index!r}; the torch module has {classes}")
        if self.model.output == "probability":
            tiny = torch.finfo(out.dtype).eps / 2
            p = out if out.ndim == 1 else out[:, self.index]
            value = torch.logit(p, eps=tiny)
            return value if out.ndim == 2 or self.index == 1 else -value
        if out.ndim == 1:
            return out if self.index == 1 else -out
        others = torch.arange(classes, device=out.device) != self.index
        return out[:, self.index] - torch.logsumexp(out[:, others], dim=1)

    @staticmethod
    def _numpy(tensor: Any) -> Array:
        return np.asarray(tensor.detach().cpu().numpy(), dtype=float)
