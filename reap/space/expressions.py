"""Arithmetic on feature names, read from text: the formulas of derived features and linear rules.

Names that are not Python words stand in backticks: ``2 * `Credit amount` <= 5000``. Only numbers, names,
``+ - * / **`` and a few functions are understood, so a space file can never run code.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
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
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "max": np.maximum,
    "min": np.minimum,
    "round": np.round,
    "sqrt": np.sqrt,
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
        except SyntaxError:
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
                for argument in arguments:
                    self._collect(argument, names)
            case _:
                raise InputError(
                    f"the formula {self.text!r} may hold only numbers, features, + - * / ** and {', '.join(_FUNCTIONS)}"
                )

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the formula, elementwise over arrays."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._value(self._tree, values)

    def _value(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Name(id=name):
                return values[self._alias.get(name, name)]
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand, values)
                return -value if isinstance(op, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right):
                return _BINARY[type(op)](self._value(left, values), self._value(right, values))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _FUNCTIONS[name](*(self._value(argument, values) for argument in arguments))
        raise InputError(f"the formula {self.text!r} cannot be read")  # pragma: no cover - refused above

    def coefficients(self) -> tuple[dict[str, float], float]:
        """Return the formula as ``Σ a_f f + b``, or say that it is not linear.

        Examples
        --------
        >>> Expression("2 * (a - b) + 3").coefficients()
        ({'a': 2.0, 'b': -2.0}, 3.0)
        """
        zero = dict.fromkeys(self.names, 0.0)
        base = float(self(zero))
        slopes = {name: float(self({**zero, name: 1.0})) - base for name in self.names}
        # A second point tells a linear formula from one that merely agrees at 0 and 1.
        probe = {name: 2.0 + 3.0 * i for i, name in enumerate(self.names)}
        expected = base + sum(slopes[name] * probe[name] for name in self.names)
        if not np.isclose(float(self(probe)), expected, rtol=1e-9, atol=1e-9):
            raise InputError(
                f"{self.text!r} is not linear; rules may only add features and multiply them by numbers"
            )
        return slopes, base
