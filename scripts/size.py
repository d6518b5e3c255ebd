"""How large the package is, and how easily a mind can hold it: ``python -m scripts.size``.

Lines and files by package, of the tests too; class names that are defined more than once, small modules that only one other
module imports, levels of inheritance among our own classes, the public attributes and parameters of what users hold in their
hands, and tests that assert nothing. ``LIMITS`` and ``TESTS`` are held by ``tests/test_size.py``: what has been made small stays
small.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A module below this many lines that one other module imports could be a part of that.
SMALL = 80
#: What must not grow: (lines, files) of packages that were rebuilt.
LIMITS: dict[str, tuple[int, int]] = {
    "recourse": (5_535, 22),
    "models": (2_718, 12),
    "elicitation": (2_793, 8),
    "questions": (950, 8),
    "space": (6_265, 14),
    "datasets": (622, 5),
    ".": (2_122, 14),
    "belief": (3_034, 12),
    "learning": (545, 4),
    "cli": (1_971, 11),
    "service": (6_460, 26),
    "doors": (872, 6),
    "batch": (1_275, 5),
    "checks": (2_504, 11),
    "auditing": (1_057, 6),
    "research": (6_512, 42),
}
#: The same of tests, by folder.
TESTS: dict[str, tuple[int, int]] = {
    "models": (1_814, 9),
    "batch": (1_258, 8),
    "auditing": (359, 3),
    "checks": (1_016, 7),
    "service": (4_609, 33),
    "attack": (2_867, 16),
    "questions": (741, 7),
    "elicitation": (1_639, 12),
    "space": (3_362, 14),
    "datasets": (564, 5),
    "recourse": (4_018, 28),
    "belief": (1_259, 6),
    "learning": (559, 4),
}
#: Public attributes, parameters and levels of inheritance of what users hold, where that was made small.
FACES: dict[str, tuple[int, int, int]] = {
    "Recourse": (20, 12, 1),
    "Elicitation": (25, 9, 0),
    "ActionSpace": (30, 10, 0),
}
#: Where the design wants to arrive: lines of the whole, and files of the package.
WANTED = {"reap": "32,000 in 200", "tests": "20,000"}


def modules(root: Path = ROOT, folder: str = "reap") -> list[Path]:
    """Return the Python files of the package, or of the tests."""
    return sorted((root / folder).rglob("*.py"))


def sizes(root: Path = ROOT, folder: str = "reap") -> dict[str, tuple[int, int]]:
    """Return (lines, files) of each part of the package; ``.`` are the files beside the packages."""
    lines, files = Counter[str](), Counter[str]()
    for path in modules(root, folder):
        part, *rest = path.relative_to(root / folder).parts
        name = part if rest else "."
        lines[name] += len(path.read_text(encoding="utf-8").splitlines())
        files[name] += path.name != "__init__.py" or folder == "reap"
    return {name: (lines[name], files[name]) for name in sorted(lines, key=lambda name: -lines[name])}


def doubled(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the class names that are defined in more than one place, with the files."""
    places = defaultdict[str, list[str]](list)
    for path in modules(root):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(root)))
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def lonely(root: Path = ROOT) -> list[str]:
    """Return the small modules that exactly one other module imports."""
    importers = defaultdict[str, set[str]](set)
    for path in modules(root):
        own = _name(path, root)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            else:
                continue
            for name in found:
                importers[name].add(own)
    return [
        _name(path, root)
        for path in modules(root)
        if path.name not in ("__init__.py", "__main__.py")
        and len(path.read_text(encoding="utf-8").splitlines()) < SMALL
        and len(importers[_name(path, root)]) == 1
    ]


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def silent(root: Path = ROOT) -> list[str]:
    """Return the tests that assert nothing: no ``assert``, nothing that ``raises``, no helper that says it asserts."""
    found = []
    for path in modules(root, "tests"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith(
                "test_"
            ):
                continue
            inside = list(ast.walk(node))
            called = [ast.unparse(each.func) for each in inside if isinstance(each, ast.Call)]
            speaks = any("assert" in name or name.endswith(("raises", "warns")) for name in called)
            if not speaks and not any(isinstance(each, ast.Assert) for each in inside):
                found.append(f"{path.relative_to(root)}::{node.name}")
    return found


def depth(kind: type) -> int:
    """Return how many of our own classes stand above a class."""
    above = [depth(base) + 1 for base in kind.__bases__ if base.__module__.startswith("reap")]
    return max(above, default=0)


def faces() -> dict[str, tuple[int, int, int]]:
    """Return (public attributes, parameters, levels of inheritance) of engine, session and space."""
    import reap

    found = {}
    for kind, made in (
        (reap.Recourse, reap.Recourse.__init__),
        (reap.Elicitation, reap.Elicitation.__init__),
        (reap.ActionSpace, reap.ActionSpace.from_frame),
    ):
        own = {name for base in kind.__mro__ if base.__module__.startswith("reap") for name in vars(base)}
        public = [name for name in own if not name.startswith("_")]
        parameters = [name for name in inspect.signature(made).parameters if name not in ("self", "cls")]
        found[kind.__name__] = (len(public), len(parameters), depth(kind))
    return found


def main() -> int:
    """Print all of it; return 1 where a limit is passed."""
    from rich.console import Console
    from rich.table import Table

    console, passed = Console(), False
    for folder, limits in (("reap", LIMITS), ("tests", TESTS)):
        found = sizes(folder=folder)
        table = Table("package", "lines", "files", "at most", title=f"{folder}/")
        for name, (lines, files) in found.items():
            limit = limits.get(name)
            table.add_row(
                name, f"{lines:,}", str(files), "" if limit is None else f"{limit[0]:,} in {limit[1]}"
            )
            passed |= limit is not None and (lines > limit[0] or files > limit[1])
        lines, files = (sum(each) for each in zip(*found.values(), strict=True))
        table.add_row("all", f"{lines:,}", str(files), f"wanted: {WANTED[folder]}")
        console.print(table)
    console.print(f"tests that assert nothing: {len(silent())}")
    twice, small = doubled(), lonely()
    console.print(f"class names defined more than once: {len(twice)} ({', '.join(twice)})")
    console.print(f"modules of fewer than {SMALL} lines with one importer: {len(small)}")
    for name, (public, parameters, levels) in faces().items():
        console.print(
            f"{name}: {public} public attributes, {parameters} parameters, {levels} levels of inheritance"
        )
    return int(passed)


if __name__ == "__main__":
    sys.exit(main())
