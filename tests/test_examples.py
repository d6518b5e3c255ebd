"""Every example runs; those that need a booster or dice-ml run with the extras."""

from __future__ import annotations

import pytest

from scripts.site import cells, examples

CORE = [path for path in examples.scripts() if not cells.needs(path.read_text(encoding="utf-8"))]
EXTRAS = [path for path in examples.scripts() if path not in CORE]
#: Runs for a minute on two cores; `make docs` runs it too.
LONG = "paper_in_five_minutes"


def names(path):
    return path.stem


def written(path, out):
    page = examples.page(path, out).read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert "```text" in page or 'class="shown"' in page  # something came out
    assert "Traceback" not in page
    return page


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.long) if path.stem == LONG else path for path in CORE],
    ids=names,
)
def test_examples_run(path, tmp_path):
    assert written(path, tmp_path)


@pytest.mark.extras
@pytest.mark.filterwarnings("default")  # those of other libraries
@pytest.mark.parametrize("path", EXTRAS, ids=names)
def test_examples_with_extras_run(path, tmp_path):
    assert not examples.missing(path)
    written(path, tmp_path)


def test_every_example_is_listed_in_order():
    assert {path.name for path in examples.EXAMPLES.glob("*.py")} == {
        path.name for path in examples.scripts()
    }
    assert examples.index().count("](") == len(examples.ORDER)
