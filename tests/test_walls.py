"""What import-linter cannot see: nothing private to one package is used by another."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[1] / "reap"
#: The name under which gettext is called everywhere.
SPOKEN = "reap.language._"
#: Underscored names that are public: of named tuples, of SQLAlchemy's rows.
LIBRARIES = {"_replace", "_mapping"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of everything a module imports from the house, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            yield from ((node.lineno, f"{node.module}.{one.name}") for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, one.name) for one in node.names)


def trespassing_imports(package: str, tree: ast.Module) -> list[str]:
    """Return what a module of a package ("reap.belief") imports though it is private to a package it is not in."""
    found = []
    for line, name in imported(tree):
        parts = name.split(".")
        if parts[0] != "reap" or name == SPOKEN:
            continue
        first = next((i for i, part in enumerate(parts) if private(part)), None)
        if first is not None and not f"{package}.".startswith(".".join(parts[:first]) + "."):
            found.append(f"line {line}: {name}")
    return found


def made(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a module gives to attributes, methods, functions and constants."""
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
        if private(name):
            yield name


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(HOUSE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in HOUSE.rglob("*.py")
    }


def owner(path: str) -> str:
    """Return the package of a file: "belief", or nothing for a module of the house itself."""
    return path.partition("/")[0] if "/" in path else ""


def test_no_package_imports_what_is_private_to_another(trees):
    found = {
        path: trespassing_imports(".".join(["reap", *path.split("/")[:-1]]), tree)
        for path, tree in trees.items()
    }
    assert not {path: lines for path, lines in found.items() if lines}


def reached_for(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield the private attributes of other objects that a module uses; an engine may use those of its base class."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and private(node.attr)) or node.attr in LIBRARIES:
            continue
        if ast.unparse(node.value) not in ("self", "cls", "super()"):
            yield node


def test_no_package_reaches_for_private_attributes_of_another(trees):
    """By name: an attribute that other packages of the house make, and the own package does not."""
    makers = defaultdict(set)
    for path, tree in trees.items():
        for name in made(tree):
            makers[name].add(owner(path))
    found = {
        path: [
            f"line {node.lineno}: {ast.unparse(node)}"
            for node in reached_for(tree)
            if theirs(node, path, makers)
        ]
        for path, tree in trees.items()
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def theirs(node: ast.Attribute, path: str, makers: dict[str, set[str]]) -> bool:
    return bool(makers[node.attr]) and owner(path) not in makers[node.attr]


@pytest.mark.parametrize(
    ("package", "line", "refused"),
    [
        ("reap.service", "from reap.cli._setup import prepare", True),
        ("reap.service", "from reap.cli import _setup", True),
        ("reap.service", "import reap.cli._setup", True),
        ("reap.service", "from reap.plan import _order", True),
        ("reap.cli", "from reap.cli._setup import prepare", False),
        ("reap.research.baselines", "from reap.research.baselines._dice_module import Module", False),
        ("reap.research.experiments", "from reap.research.baselines._dice_module import Module", True),
        ("reap.service", "from reap._errors import InputError", False),
        ("reap.service", "from reap.language import _", False),
        ("reap.service", "from numpy import _core", False),
    ],
)
def test_what_is_refused(package, line, refused):
    assert bool(trespassing_imports(package, ast.parse(line))) == refused
