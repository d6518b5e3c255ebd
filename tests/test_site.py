"""The site: every public name has a place in it, pictures are current, pages are made of what examples really print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.site import cells, check, pictures

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
PLACES = set(re.findall(r"^::: (\S+)$", REFERENCE, flags=re.MULTILINE))


@pytest.mark.parametrize("module", sorted(check.public()))
def test_every_public_name_has_a_place_in_the_reference(module):
    names = check.public()[module]
    assert names
    lacking = {name for name in names if f"{module}.{name}" not in PLACES and module not in PLACES}
    assert not lacking, f"write '::: {module}.{min(lacking)}' on a page of docs/reference"


def test_no_place_in_the_reference_is_of_something_that_went():
    known = {f"{module}.{name}" for module, names in check.public().items() for name in names} | set(
        check.public()
    )
    assert known >= PLACES


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_pictures_are_what_the_code_draws(name):
    """Words and numbers of drawings may differ in the last digits between releases of matplotlib."""
    committed = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = pictures.draw(pictures.PICTURES[name])
    assert re.findall(r"<text.*?>(.*?)</text>", drawn) == re.findall(r"<text.*?>(.*?)</text>", committed)
    assert abs(len(drawn) - len(committed)) < 0.2 * len(committed)


def test_every_page_is_in_the_navigation():
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in listed


def test_cells_show_what_they_print_and_their_last_value(tmp_path):
    script = tmp_path / "a.py"
    script.write_text(
        "# needs: json\n# %% [markdown]\n# # A title\n# Words.\n# %%\nx = 2\nprint('printed')\nx + 1\n"
    )
    (words, _), (_, output) = cells.run(script)
    assert words.text == "# A title\nWords."
    assert (output.printed, output.shown) == ("printed\n", "3")
    assert cells.title(script.read_text()) == "A title"
    assert cells.needs(script.read_text()) == ["json"]


def test_an_example_that_breaks_names_its_cell(tmp_path):
    script = tmp_path / "b.py"
    script.write_text("# %%\n1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        list(cells.run(script))
    assert "b.py, cell 1" in caught.value.__notes__[0]


def test_a_foreign_script_and_a_broken_link_are_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<script src="https://a.b/c.js"></script><a href="gone.html">x</a><a href="#no">y</a>'
        '<a data-md-component="source" href="https://github.com/a/b">z</a>'
    )
    (tmp_path / "objects.inv").write_bytes(b"1\n2\n3\n4\n" + __import__("zlib").compress(b""))
    found = "\n".join(check.problems(tmp_path))
    assert "loads https://a.b/c.js from elsewhere" in found
    assert "loads https://api.github.com from elsewhere" in found
    assert "links to gone.html, which is not there" in found
    assert "links to #no, and there is no such place" in found
    assert "reap.recourse.Recourse is public and has no place" in found
