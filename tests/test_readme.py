"""The README: short, and its pictures are of the pages as they are."""

from __future__ import annotations

import shutil
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
    for path in screenshots.take(tmp_path):
        committed, now = coarse(screenshots.OUT / path.name), coarse(path)
        apart = np.abs(committed - now).mean()
        assert apart < 0.03, f"{path.name} is out of date ({apart:.3f}): run python -m scripts.screenshots"
