"""Arithmetic on feature names, read from text: the formulas of derived features and linear rules.

Names that are not Python words stand in backticks: ``2 * `Credit amount` <= 5000``. Only numbers, names,
``+ - * / **`` and a few functions are understood, so a space file can never run code.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from reap._errors import InputError, unknown

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
#: Functions, and how many arguments each takes at least and at most.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], int, float]] = {
    "abs": (np.abs, 1, 1),
    "exp": (np.exp, 1, 1),
    "log": (np.log, 1, 1),
    "max": (lambda *values: reduce(np.maximum, values), 2, np.inf),
    "min": (lambda *values: reduce(np.minimum, values), 2, np.inf),
    "round": (np.round, 1, 1),
    "sqrt": (np.sqrt, 1, 1),
}


class Expression:
    """A formula of feature names.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> debt = Expression("debt / max(income, 1)")
    >>> debt.names
    ('debt', 'income')
    >>> float(debt({"debt": 50.0, "income": 200.0}))
    0.25
    """

    def __init__(self, text: str) -> None:
        self.text = text
        quoted = re.findall(r"`([^`]+)`", text)
        self._alias = {f"_q{i}": name for i, name in enumerate(dict.fromkeys(quoted))}
        source = text
        for alias, name in self._alias.items():
            source = source.replace(f"`{name}`", alias)
        try:
            self._tree = ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise InputError(
                f"the formula {text!r} cannot be read; write it like `income` / 2 + 10"
            ) from None
        names: dict[str, None] = {}
        self._collect(self._tree, names)
        self.names = tuple(names)

    def _collect(self, node: ast.AST, names: dict[str, None]) -> None:
        match node:
            case ast.Name(id=name):
                names[self._alias.get(name, name)] = None
            case ast.Constant(value=int() | float()):
                pass
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self._collect(operand, names)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                self._collect(left, names)
                self._collect(right, names)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                if name not in _FUNCTIONS:
                    raise unknown("function", name, _FUNCTIONS)
                _, least, most = _FUNCTIONS[name]
                if not least <= len(arguments) <= most:
                    need = f"{least} value" if most == 1 else f"at least {least} values"
                    raise InputError(
                        f"{name} in the formula {self.text!r} needs {need}; given were {len(arguments)}"
                    )
                for argument in arguments:
                    self._collect(argument, names)
            case _:
                raise InputError(
                    f"the formula {self.text!r} may hold only numbers, features, + - * / ** and {', '.join(_FUNCTIONS)}"
                )

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the formula, elementwise over arrays."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._value(self._tree, values)

    def _value(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Name(id=name):
                return values[self._alias.get(name, name)]
            case ast.Constant(value=int() | float() as value):
                return np.float64(value)  # so that 1 / 0 is infinite, as it is for arrays
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand, values)
                return -value if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right):
                return _BINARY[type(op)](self._value(left, values), self._value(right, values))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _FUNCTIONS[name][0](*(self._value(argument, values) for argument in arguments))
        raise InputError(f"the formula {self.text!r} cannot be read")  # pragma: no cover - refused above

    def coefficients(self) -> tuple[dict[str, float], float]:
        """Return the formula as ``Σ a_f f + b``, or say that it is not linear.

        Examples
        --------
        >>> Expression("2 * (a - b) + 3").coefficients()
        ({'a': 2.0, 'b': -2.0}, 3.0)
        """
        slopes = dict.fromkeys(self.names, 0.0)
        return slopes, self._gather(self._tree, 1.0, slopes)

    def _gather(self, node: ast.AST, factor: float, slopes: dict[str, float]) -> float:
        """Add ``factor`` times a part of the formula to ``slopes``; return its constant."""
        match node:
            case ast.Name(id=name):
                slopes[self._alias.get(name, name)] += self._finite(factor)
                return 0.0
            case ast.UnaryOp(op=op, operand=operand):
                return self._gather(operand, -factor if isinstance(op, ast.USub) else factor, slopes)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._gather(left, factor, slopes) + self._gather(right, factor, slopes)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._gather(left, factor, slopes) + self._gather(right, -factor, slopes)
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if not _has_names(left):
                return self._gather(right, factor * self._number(left), slopes)
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if not _has_names(right):
                return self._gather(left, factor * self._number(right), slopes)
            case ast.BinOp(left=left, op=ast.Div(), right=right) if not _has_names(right):
                return self._gather(left, factor / (self._number(right) or np.nan), slopes)
        if _has_names(node):
            raise InputError(
                f"{self.text!r} is not linear; rules may only add features and multiply them by numbers"
            )
        return self._finite(factor * self._number(node))

    def _number(self, node: ast.AST) -> float:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return float(self._value(node, {}))

    def _finite(self, value: float) -> float:
        if not np.isfinite(value):
            raise InputError(f"{self.text!r} holds a number that is not finite, or divides by zero")
        return value


def _has_names(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))
