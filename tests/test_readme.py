"""The README: short, and its pictures are of the pages as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import screenshots

ROOT = Path(__file__).resolve().parents[1]


def test_it_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def coarse(path):
    """Mean brightness of 20 × 20 fields: words may move by a line, pages may not be others."""
    from matplotlib.image import imread

    picture = imread(path)[..., :3].mean(axis=2)
    rows, columns = (np.array_split(np.arange(n), 20) for n in picture.shape)
    return np.array([[picture[np.ix_(r, c)].mean() for c in columns] for r in rows])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium on this machine")
def test_its_pictures_are_of_the_pages_as_they_are(tmp_path):
    take = "import sys, pathlib; from scripts import screenshots; screenshots.take(pathlib.Path(sys.argv[1]))"
    plain = {
        name: value for name, value in os.environ.items() if name != "REAP_DURABILITY"
    }  # as the command takes them
    subprocess.run([sys.executable, "-c", take, str(tmp_path)], cwd=ROOT, env=plain, check=True)
    taken = sorted(tmp_path.glob("*.png"))
    assert taken
    for path in taken:
        committed, now = coarse(screenshots.OUT / path.name), coarse(path)
        apart = np.abs(committed - now)
        told = f"{path.name} is out of date ({apart.mean():.3f}, {apart.max():.3f}): run python -m scripts.screenshots"
        assert apart.mean() < 0.03, told
        assert apart.max() < 0.15, told  # a card that went, or another picture: a date in other words is .05
