"""What must hold across features: formulas, linear inequalities, implications, and features that others move.

A rule says whether a change obeys it (``allows``). An implication also says which alternatives would make it hold
(``alternatives``, for the search of the nearest legal row) and what changes only because of it (``entails``). Rules are read
from plain sentences: "if job changes then income is at least 900".
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from keyword import iskeyword
from typing import Any

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Bools
from reap.space.feature import Feature

#: Two codes closer than this share of the feature's scale are the same value.
SAME = 1e-9


@dataclass(frozen=True)
class Domain:
    """The values one feature may take: an interval for numbers, a set of level indices otherwise."""

    low: float = -np.inf
    high: float = np.inf
    levels: frozenset[int] | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.low > self.high or (self.levels is not None and not self.levels)


@dataclass(frozen=True)
class LinearRule:
    """``Σ a_f x_f ≤ b`` in units: ``existing + 2 * new <= 5``."""

    text: str
    weights: tuple[tuple[int, float], ...]
    limit: float

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether rows of codes (n, f) obey; unknown values are not held against anybody."""
        total = sum(weight * after[:, i] for i, weight in self.weights)
        size = sum(abs(weight) * np.abs(after[:, i]) for i, weight in self.weights)
        return np.asarray(~(total > self.limit + SAME * (1 + abs(self.limit) + size)))


@dataclass(frozen=True)
class RatioRule:
    """``a / b`` rises to no more than so many times what it is: "amount / duration rises by at most 25 %".

    For one person it is linear: ``a ≤ most · (a₀ / b₀) · b``.
    """

    text: str
    top: int
    bottom: int
    most: float

    def at(self, start: Array) -> LinearRule:
        """Return what it says for a person with codes (f,)."""
        now = start[self.top] / start[self.bottom] if start[self.bottom] > 0 else np.nan
        return LinearRule(self.text, ((self.top, 1.0), (self.bottom, -self.most * now)), 0.0)

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether changes of codes (n, f) obey; who changes neither does, and unknown values are held against nobody."""
        first, then = before[:, self.top] * after[:, self.bottom], after[:, self.top] * before[:, self.bottom]
        return np.asarray(~(then > self.most * first + SAME * (1 + np.abs(first))))


@dataclass(frozen=True)
class Condition:
    """One statement about one feature's change: "education increases by at least 2"."""

    index: int
    feature: Feature
    verb: str
    value: Any = None

    @property
    def _near(self) -> float:
        return SAME * self.feature.scale

    def holds(self, before: Array, after: Array) -> Bools:
        """Return where it is true, for codes (n, f)."""
        old, new, near = before[:, self.index], after[:, self.index], self._near
        moved = np.abs(new - old) > near
        match self.verb:
            case "changes" | "stays":
                true = moved if self.verb == "changes" else ~moved
            case "increases" | "decreases":
                rise = new - old if self.verb == "increases" else old - new
                true = rise >= max(self.value, 2 * near) - near
            case "is at least":
                true = new >= self.value - near
            case "is at most":
                true = new <= self.value + near
            case _:
                there = np.abs(new - self.value) <= near
                true = there & moved if self.verb == "becomes" else there if self.verb == "is" else ~there
        return np.asarray(true)

    def just(self, before: Array, after: Array) -> Bools:
        """Return where codes (n, f) make it true and go no farther than that takes."""
        old, new, near = before[:, self.index], after[:, self.index], self._near
        match self.verb:
            case "is" | "becomes":
                enough = np.ones(len(new), dtype=bool)
            case "is at least" | "is at most":
                enough = np.abs(new - self.value) <= near
            case "increases" | "decreases" if self.value > 0:
                enough = np.abs(np.abs(new - old) - self.value) <= 2 * near
            case _:
                enough = np.zeros(len(new), dtype=bool)
        return np.asarray(enough & self.holds(before, after))

    def domains(self, start: float, truth: bool) -> list[Domain]:
        """Return the alternatives for this feature under which the condition is ``truth``, from ``start``."""
        if not self.feature.is_number:
            rows = np.zeros((len(self.feature.levels), self.index + 1))
            rows[:, self.index] = np.arange(len(rows))
            begin = np.full_like(rows, start)
            picked = np.flatnonzero(self.holds(begin, rows) == truth)
            return [Domain(levels=frozenset(picked.tolist()))]
        gap, value = 2 * self._near, self.value
        match self.verb:
            case "changes" | "stays":
                moves = (self.verb == "changes") == truth
                away = [Domain(high=start - gap), Domain(low=start + gap)]
                return away if moves else [Domain(start, start)]
            case "increases":
                need = max(value, gap)
                return [Domain(low=start + need) if truth else Domain(high=start + need - gap)]
            case "decreases":
                need = max(value, gap)
                return [Domain(high=start - need) if truth else Domain(low=start - need + gap)]
            case "is at least":
                return [Domain(low=value) if truth else Domain(high=value - gap)]
            case "is at most":
                return [Domain(high=value) if truth else Domain(low=value + gap)]
        at, away = Domain(value, value), [Domain(high=value - gap), Domain(low=value + gap)]
        if self.verb == "becomes":  # "is", and different from the start
            unmoved = abs(start - value) <= gap
            return ([] if unmoved else [at]) if truth else ([Domain()] if unmoved else away)
        return [at] if (self.verb == "is") == truth else away


@dataclass(frozen=True)
class Implication:
    """``if a changes then b …``: where the first condition holds, the second must."""

    text: str
    when: Condition
    then: Condition

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether changes of codes (n, f) obey."""
        return ~self.when.holds(before, after) | self.then.holds(before, after)

    def entails(self, before: Array, after: Array) -> Bools:
        """Return where the first feature's change asks for the second's, and the second goes just as far, for codes (n, f)."""
        back = after.copy()
        back[:, self.then.index] = np.broadcast_to(before, after.shape)[:, self.then.index]
        first = Condition(self.when.index, self.when.feature, "changes").holds(before, after)
        return first & ~self.allows(before, back) & self.then.just(before, after)

    def alternatives(self, start: Array) -> list[tuple[int, Domain]]:
        """Return the restrictions, any one of which makes the rule hold for a subject with codes (f,)."""
        found = []
        for condition, truth in ((self.when, False), (self.then, True)):
            # what is missing stays so, and can neither refuse nor comply
            if not np.isnan(start[condition.index]):
                found += [(condition.index, d) for d in condition.domains(start[condition.index], truth)]
        return [(i, d) for i, d in found if not d.empty]


Rule = LinearRule | RatioRule | Implication

# sentences -------------------------------------------------------------------------------------------


def parse(text: str, features: Sequence[Feature]) -> list[Rule]:
    """Return the rules a sentence stands for (an equation stands for two).

    Examples
    --------
    >>> ages = [Feature("age", "integer", range=(18, 80)), Feature("years", "integer", range=(0, 50))]
    >>> parse("years <= age - 16", ages)[0].weights
    ((1, 1.0), (0, -1.0))
    """
    index = {feature.name: i for i, feature in enumerate(features)}
    sentence = " ".join(text.split())
    if match := re.fullmatch(r"if (.+?),? then (.+)", sentence, flags=re.IGNORECASE):
        when, then = (_condition(part, features, index) for part in match.groups())
        return [Implication(sentence, when, then)]
    if match := re.fullmatch(r"(.+?) / (.+?) rises by at most ([\d.]+) ?%", sentence, flags=re.IGNORECASE):
        top, bottom = (part.strip("` ") for part in match.groups()[:2])
        for name in (top, bottom):
            _linear_feature(name, features, index)
        return [RatioRule(sentence, index[top], index[bottom], 1 + float(match[3]) / 100)]
    sides = re.split(r"(<=|>=|==|=)", sentence)
    if len(sides) != 3:
        raise InputError(
            f"the rule {text!r} cannot be read; write 'a + 2 * b <= 5', 'a / b rises by at most 25 %' or "
            "'if a increases then b increases by at least 2'"
        )
    left, sign, right = sides
    weights, constant = Expression(f"({left}) - ({right})").coefficients()
    for name in weights:
        _linear_feature(name, features, index)
    pairs = tuple((index[name], weight) for name, weight in weights.items() if weight)
    if not pairs:
        raise InputError(f"the rule {text!r} says nothing about a feature; name one, as in 'a + 2 * b <= 5'")
    flipped = tuple((i, -weight) for i, weight in pairs)
    at_most, at_least = LinearRule(sentence, pairs, -constant), LinearRule(sentence, flipped, constant)
    return [at_most] if sign == "<=" else [at_least] if sign == ">=" else [at_most, at_least]


def _linear_feature(name: str, features: Sequence[Feature], index: Mapping[str, int]) -> None:
    if name not in index:
        raise unknown("feature", name, index)
    feature = features[index[name]]
    if not (feature.is_number or feature.kind == "binary"):
        raise InputError(
            f"{name!r} is {feature.kind}; a linear rule may only use numbers and binary features (as 0 and 1)"
        )
    _check_set(feature)


def _check_set(feature: Feature) -> None:
    """Refuse a rule on what nobody sets."""
    if feature.derived is not None:
        raise InputError(f"{feature.name!r} is derived; write the rule with the features it is computed from")
    if feature.clock is not None:
        raise InputError(
            f"{feature.name!r} is a clock and goes by itself; say how long an action takes by its pace"
        )


_VERBS = (
    (r"(?P<verb>changes|stays)", None),
    (r"(?P<verb>increases|decreases)( by at least (?P<value>.+))?", "amount"),
    (r"(?P<verb>is at least|is at most) (?P<value>.+)", "code"),
    (r"(?P<verb>is not|becomes|is) (?P<value>.+)", "code"),
)


def _condition(text: str, features: Sequence[Feature], index: Mapping[str, int]) -> Condition:
    for pattern, wants in _VERBS:
        match = re.fullmatch(rf"(?P<name>`[^`]+`|.+?) {pattern}", text.strip(), flags=re.IGNORECASE)
        if match is None:
            continue
        name = match["name"].strip("`'\" ")
        if name not in index:
            raise unknown("feature", name, index)
        feature, verb = features[index[name]], match["verb"].lower()
        _check_set(feature)
        if verb in ("increases", "decreases", "is at least", "is at most") and feature.kind == "categorical":
            raise InputError(
                f"{name!r} is categorical and cannot be said to be more or less; use 'changes', 'is' or 'becomes'"
            )
        given = match.groupdict().get("value")
        value = None if wants is None else _value(given, feature, wants)
        return Condition(index[name], feature, verb, value)
    raise InputError(
        f"the condition {text!r} cannot be read; write 'a changes', 'a stays', 'a increases by at least 2', "
        "'a is x', 'a is not x', 'a becomes x', 'a is at least 3' or 'a is at most 3'"
    )


def _value(given: str | None, feature: Feature, wants: str) -> float:
    if wants == "amount" and given is None:
        return 0.0
    text = str(given).strip("'\" ")
    if wants == "code" and not feature.is_number:
        for i, level in enumerate(feature.levels):
            if str(level) == text:
                return float(i)
        raise unknown(f"level of {feature.name!r}", text, feature.levels)
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{text!r} in a rule on {feature.name!r} must be a number")
    return number


# formulas --------------------------------------------------------------------------------------------

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
    """A formula of feature names, read from text.

    Names that are not Python words stand in backticks: ``2 * `Credit amount` <= 5000``. Only numbers, names,
    ``+ - * / **`` and a few functions are understood, so a space file can never run code. ``(job == 'skilled')`` is 1 where
    a feature has that level, and 0 elsewhere.

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
        #: The levels that the formula asks for, (feature, level) each.
        self.levels: tuple[tuple[str, Any], ...] = ()
        self._collect(self._tree, names)
        self.names = tuple(names)

    def _collect(self, node: ast.AST, names: dict[str, None]) -> None:
        match node:
            case ast.Name(id=name):
                names[self._alias.get(name, name)] = None
            case ast.Constant(value=int() | float()):
                pass
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=level)]):
                self.levels += ((self._alias.get(name, name), level),)
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
                    f"the formula {self.text!r} may hold only numbers, features, + - * / ** and {', '.join(_FUNCTIONS)}, "
                    "and levels such as (job == 'skilled')"
                )

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the formula, elementwise over arrays; ``levels`` as they are given, 0 or 1, or of the values."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._value(self._tree, values)

    def _value(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Name(id=name):
                return values[self._alias.get(name, name)]
            case ast.Constant(value=int() | float() as value):
                return np.float64(value)  # so that 1 / 0 is infinite, as it is for arrays
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=level)]):
                key: Any = self._alias.get(name, name), level
                return values[key] if key in values else np.asarray(values[key[0]] == level, dtype=float)
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


def written(name: str) -> str:
    """Return a name as a formula has it: in backticks where it is no plain word.

    Examples
    --------
    >>> written("income"), written("Credit amount"), written("class")
    ('income', '`Credit amount`', '`class`')
    """
    return name if name.isidentifier() and not iskeyword(name) else f"`{name}`"


def _has_names(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


# features that others move ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Formula:
    """What one feature follows from: exactly (``derived``), or as far as others have moved (``effect``)."""

    index: int
    compute: Expression
    inputs: tuple[int, ...]
    effect: bool


class Derived:
    """Recomputes what moves because others have: derived features, and effects of features on each other.

    A *derived* feature is what its formula says. Where none of its inputs changed it keeps the person's own value, so rounding
    in the table is never taken for a change. An *effect* moves a feature by as much as its formula has moved, from where the
    person is: ``own + done + formula(then) - formula(now)``, where ``done`` is what the person does about it themselves. What
    a person does follows from where they end (``undone``): it is what the effects leave unexplained.

    Parameters
    ----------
    features : sequence of Feature
    scale : (f,), optional
        Length of each feature's unit interval, to tell a change from rounding.

    Examples
    --------
    >>> debt, income = Feature("debt", range=(0, 9)), Feature("income", range=(1, 9))
    >>> ratio = Feature("ratio", range=(0, 9), derived="debt / income")
    >>> Derived([debt, income, ratio]).recompute(np.array([[2.0, 4.0, 9.0]]), np.array([[2.0, 2.0, 1.0]]))
    array([[2. , 4. , 0.5]])
    >>> savings = Feature("savings", range=(0, 9), effect="0.5 * income")
    >>> both, now = Derived([income, savings]), np.array([[2.0, 3.0]])
    >>> both.recompute(np.array([[6.0, 4.0]]), now)  # income rises by 4, and 1 is saved besides
    array([[6., 6.]])
    >>> both.undone(np.array([[6.0, 6.0]]), now)
    array([[6., 4.]])
    """

    def __init__(self, features: Sequence[Feature], scale: Array | None = None) -> None:
        self.features = features
        self.scale = np.ones(len(features)) if scale is None else scale
        index = {feature.name: i for i, feature in enumerate(features)}
        self._formulas = self._in_order(
            [
                _Formula(
                    i, formula := Expression(text), self._inputs(one, formula, index), one.derived is None
                )
                for i, one in enumerate(features)
                if (text := one.derived or one.moved_by) is not None
            ]
        )
        self._derived = [formula for formula in self._formulas if not formula.effect]
        self._effects = [formula for formula in self._formulas if formula.effect]
        self._used = sorted({k for formula in self._formulas for k in formula.inputs})
        levels = dict.fromkeys(key for formula in self._formulas for key in formula.compute.levels)
        #: The levels that formulas ask for: their features' places, their own places, and their keys.
        self._levels = [
            (index[name], features[index[name]].levels.index(level), (name, level)) for name, level in levels
        ]
        #: Of features that an effect moves: their places, and which of them nobody does anything about.
        self.moved = np.array([formula.index for formula in self._effects], dtype=np.intp)
        self._only = np.array([features[i].only_moved for i in self.moved], dtype=bool)
        #: Whether anything is derived, effects or not.
        self.exact = bool(self._derived)
        #: The places of all that follows, by whatever formula.
        self.follows = np.array([formula.index for formula in self._formulas], dtype=np.intp)

    def _inputs(self, feature: Feature, formula: Expression, index: Mapping[str, int]) -> tuple[int, ...]:
        """Return the places of what a formula is of, or say what is wrong with it."""
        for name in (*formula.names, *(name for name, _ in formula.levels)):
            if name not in index:
                raise unknown("feature", name, index)
        for source in (self.features[index[name]] for name in formula.names):
            if feature.derived and source.derived and index[source.name] >= index[feature.name]:
                raise InputError(
                    f"{feature.name!r} follows from {source.name!r}, which is derived itself; declare that one first"
                )
            if not _numeric(source):
                raise InputError(
                    f"{feature.name!r} cannot be computed from {source.name!r}, whose levels are not numbers; write "
                    f"({written(source.name)} == {source.levels[0]!r}) for one of them"
                )
        for name, level in formula.levels:
            source = self.features[index[name]]
            if source.is_number:
                raise InputError(
                    f"{name!r} is a number and has no levels; {formula.text!r} cannot ask for one"
                )
            if level not in source.levels:
                raise unknown(f"level of {name!r}", level, source.levels)
        names = dict.fromkeys((*formula.names, *(name for name, _ in formula.levels)))
        if feature.effect is not None and not names:
            raise InputError(
                f"the effect {formula.text!r} on {feature.name!r} says nothing of another feature; name one, as in "
                "'0.2 * income'"
            )
        return tuple(index[name] for name in names)

    def _in_order(self, formulas: Sequence[_Formula]) -> list[_Formula]:
        """Return the formulas such that each comes after what it is of."""
        of = {formula.index: formula for formula in formulas}
        graph = {i: [k for k in formula.inputs if k in of] for i, formula in of.items()}
        try:
            return [of[i] for i in TopologicalSorter(graph).static_order()]
        except CycleError as error:
            # the sorter names each with what comes after it
            circle = " → ".join(repr(self.features[i].name) for i in error.args[1])
            raise InputError(f"the formulas go round in a circle: {circle}; leave one of them out") from None

    @property
    def names(self) -> tuple[str, ...]:
        """The features that follow, in the order in which they are computed."""
        return tuple(self.features[formula.index].name for formula in self._formulas)

    @property
    def sources(self) -> tuple[str, ...]:
        """The features that a person sets and that others follow from."""
        used = dict.fromkeys(k for formula in self._formulas for k in formula.inputs)
        set_ = (self.features[k] for k in used)
        return tuple(one.name for one in set_ if one.derived is None and not one.only_moved)

    def recompute(self, codes: Array, start: Array, effects: bool = True) -> Array:
        """Return codes (n, f), in which everything is as the person alone does it, with all that follows from that.

        ``start`` (n or 1, f) is where they come from. A value that cannot be computed is NaN or infinite. Without ``effects``
        only derived features follow.
        """
        formulas = self._formulas if effects else self._derived
        if not formulas:
            return codes
        codes = codes.copy()
        values, now = self._values(codes), self._values(start) if effects and self._effects else {}
        for formula in formulas:
            i = formula.index
            if formula.effect:
                codes[:, i] += self._brought(formula, now, values, start, codes)
            else:
                untouched, computed = self._untouched(formula, codes, start), self._computed(formula, values)
                codes[:, i] = np.where(untouched, start[:, i], computed)
            values[self.features[i].name] = codes[:, i]
        return codes

    def undone(self, codes: Array, start: Array) -> Array:
        """Return codes (n, f) as the person alone does it, without what effects bring: undoes ``recompute``."""
        if not self._effects:
            return codes
        out, now, values = codes.copy(), self._values(start), self._values(codes)
        for formula in self._effects:
            out[:, formula.index] -= self._brought(formula, now, values, start, codes)
        only = self.moved[self._only]
        out[:, only] = start[:, only]
        return self.recompute(out, start, effects=False)

    def slopes(self, start: Array) -> Iterator[tuple[int, int, Array]]:
        """Yield by how much each effect moves its feature, in units, with each cause, from codes (f,): both places first.

        With a number that rises by its scale, as steep as it is where the person is; with each of the levels of a category
        against the person's own; with other levels from the first to the last.
        """
        for formula in self._effects:
            for k in formula.inputs:
                feature, step = self.features[k], 1e-4 * self.scale[k]
                near = start[k] + np.array([-step, step])
                ends = near if feature.is_number else np.arange(len(feature.levels))
                rows = np.repeat(start[None], len(ends) + 1, axis=0)
                rows[:-1, k] = ends
                values = zero_missing(formula.compute(self._values(rows)) + np.zeros(len(rows)))
                if feature.kind == "categorical":
                    yield formula.index, k, values[:-1] - values[-1]
                else:
                    width = 2e-4 if feature.is_number else 1.0
                    yield formula.index, k, (values[-2:-1] - values[:1]) / width

    def _values(self, codes: Array) -> dict[Any, Array]:
        """Return what formulas are computed of: numbers as people know them, and 1 where a feature has a level."""
        values: dict[Any, Array] = {
            self.features[k].name: _units(codes[:, k], self.features[k]) for k in self._used
        }
        return values | {key: (codes[:, k] == place).astype(float) for k, place, key in self._levels}

    def _untouched(self, formula: _Formula, codes: Array, start: Array) -> Bools:
        """Return where nothing that a formula is of has changed, (n,)."""
        inputs = list(formula.inputs)
        gap = np.abs(codes[:, inputs] - start[:, inputs])
        both_missing = np.isnan(codes[:, inputs]) & np.isnan(start[:, inputs])
        return np.asarray(((gap <= SAME * self.scale[inputs]) | both_missing).all(axis=1))

    def _brought(
        self,
        formula: _Formula,
        now: Mapping[Any, Array],
        then: Mapping[Any, Array],
        start: Array,
        codes: Array,
    ) -> Array:
        """Return by how much an effect moves its feature, (n,), between the values at the start and ``then``.

        Whole numbers move by whole ones; what is missing moves nothing.
        """
        if any(self.features[k].missing for k in formula.inputs):
            keys = (*formula.compute.names, *formula.compute.levels)
            now, then = ({key: zero_missing(known[key]) for key in keys} for known in (now, then))
        brought = np.asarray(formula.compute(then) - formula.compute(now), dtype=float)
        if self.features[formula.index].kind == "integer":
            brought = np.floor(brought + 0.5 + 1e-6)  # a half goes up, whatever its last digit
        if np.isfinite(brought).all():
            return brought
        return np.where(self._untouched(formula, codes, start), 0.0, brought)  # log(0) stays what it is

    def _computed(self, formula: _Formula, values: Mapping[Any, Array]) -> Array:
        """Return a derived feature as its formula says, (n,) or one for all."""
        feature, new = self.features[formula.index], np.asarray(formula.compute(values), dtype=float)
        if feature.step is not None:
            new = np.round(np.rint(new / feature.step) * feature.step, feature.decimals or 0)
        return new

    def defined(self, codes: Array, start: Array) -> Bools:
        """Return where recomputed codes (n, f) are known, (n,): finite, or missing where that is allowed."""
        fine = np.ones(len(codes), dtype=bool)
        for formula in self._formulas:
            new, old = codes[:, formula.index], start[:, formula.index]
            may_miss = np.isnan(new) & (self.features[formula.index].missing | np.isnan(old))
            fine &= np.isfinite(new) | may_miss
        return fine

    def holds(self, old: Array, new: Array) -> Bools:
        """Return whether what follows is known and what the rest of each row says, (n,)."""
        if not self._formulas:
            return np.ones(len(new), dtype=bool)
        expected = self.recompute(self.undone(new, old), old)
        with np.errstate(invalid="ignore"):
            near = np.abs(expected[:, self.follows] - new[:, self.follows]) <= 1e-6 * self.scale[self.follows]
        near |= np.isnan(expected[:, self.follows]) & np.isnan(new[:, self.follows])
        return np.asarray(near.all(axis=1) & self.defined(expected, old))


def _numeric(feature: Feature) -> bool:
    return feature.is_number or all(isinstance(v, int | float | np.number) for v in feature.levels)


def _units(codes: Array, feature: Feature) -> Array:
    """Return codes (n,) as the numbers people know: the levels themselves where those are numbers."""
    if feature.is_number or not _numeric(feature):
        return codes
    levels = np.array([*map(float, feature.levels), np.nan])
    return np.asarray(levels[np.where(np.isnan(codes), -1, codes).astype(np.intp)])
