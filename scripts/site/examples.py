"""Runs every example and writes its page: ``python -m scripts.site.examples build/examples``.

Each runs in a process of its own, so none leans on what another left behind. A page is kept while neither the example
nor the library has changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from scripts.site.cells import Cell, Output, needs, run, title

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
#: The order in which a newcomer meets them.
ORDER = (
    "lightgbm_in_ten_lines",
    "coming_from_dice",
    "first_contact",
    "draft_and_review",
    "notebook_session",
    "limits_time_durability",
    "effects",
    "any_generator",
    "audit_a_portfolio",
    "paper_in_five_minutes",
    "population_prior",
    "rest_client",
    "mlflow_model",
    "kserve_explainer",
    "chat_assistant",
)


def scripts() -> list[Path]:
    """The examples, in order."""
    return [EXAMPLES / f"{name}.py" for name in ORDER]


def missing(path: Path) -> list[str]:
    """The modules an example needs and this environment lacks."""
    return [
        name for name in needs(path.read_text(encoding="utf-8")) if importlib.util.find_spec(name) is None
    ]


def page(path: Path, out: Path) -> Path:
    """Runs one example and writes its page and pictures into the folder ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    parts: list[str] = []
    for number, (cell, output) in enumerate(run(path)):
        parts += _written(cell, output, f"{path.stem}-{number}", out)
    parts.append(
        f"\n---\n\nThe whole script: `examples/{path.name}`. It opens as a notebook in editors that know `# %%`.\n"
    )
    written = out / f"{path.stem}.md"
    written.write_text("\n".join(parts), encoding="utf-8")
    return written


def _written(cell: Cell, output: Output, name: str, out: Path) -> list[str]:
    if cell.words:
        return [cell.text.strip(), ""]
    parts = ["```python", cell.text, "```", ""]
    if output.printed.strip():
        parts += ["```text", output.printed.rstrip(), "```", ""]
    if output.shown and output.html:
        parts += [f'<div class="shown">{output.shown}</div>', ""]
    elif output.shown:
        parts += ["```text", output.shown.rstrip(), "```", ""]
    for i, figure in enumerate(output.figures):
        picture = out / f"{name}-{i}.png"
        picture.write_bytes(figure)
        parts += [f"![Picture made by the code above]({picture.name})", ""]
    return parts


def build(out: Path, jobs: int = 2) -> list[Path]:
    """All pages, in order; those that need nothing new are kept."""
    out.mkdir(parents=True, exist_ok=True)
    for path in scripts():
        if lacks := missing(path):
            raise ModuleNotFoundError(
                f"{path.name} needs {', '.join(lacks)}: `make docs` installs what it needs"
            )
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda path: _fresh(path, out), scripts()))
    return [out / f"{path.stem}.md" for path in scripts()]


def _fresh(path: Path, out: Path) -> None:
    mark = hashlib.sha256(_library() + path.read_bytes()).hexdigest()
    stamp = out / f".{path.stem}"
    if stamp.exists() and stamp.read_text() == mark:
        return
    done = subprocess.run(
        [sys.executable, "-W", "error::FutureWarning", "-m", "scripts.site.examples", str(path), str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"examples/{path.name} failed:\n{done.stderr}")
    stamp.write_text(mark)


@cache
def _library() -> bytes:
    hashed = hashlib.sha256()
    for source in sorted([*(ROOT / "reap").rglob("*.py"), *(ROOT / "scripts" / "site").glob("*.py")]):
        hashed.update(source.read_bytes())
    return hashed.digest()


def index() -> str:
    """The page that lists them."""
    lines = [
        "# Examples",
        "",
        "Each page is a script of `examples/`, run when the site is built: what stands under the code is what it printed.",
        "",
    ]
    for path in scripts():
        source = path.read_text(encoding="utf-8")
        words = next(line for line in source.split("# # ", 1)[1].splitlines()[1:] if line.strip("# "))
        extra = f" Needs {', '.join(f'`{name}`' for name in needs(source))}." if needs(source) else ""
        lines.append(f"- [{title(source)}]({path.stem}.md): {words.strip('# ')}{extra}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page(Path(sys.argv[1]), Path(sys.argv[2])) if len(sys.argv) > 2 else build(Path(sys.argv[1]))
