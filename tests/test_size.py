"""What has been made small stays small; see ``scripts/size.py``."""

from __future__ import annotations

import pytest

from scripts import size


@pytest.mark.parametrize(
    ("folder", "package", "limit"),
    [("reap", *each) for each in size.LIMITS.items()] + [("tests", *each) for each in size.TESTS.items()],
)
def test_what_was_made_small_does_not_grow(folder, package, limit):
    (lines, files), (most, count) = size.sizes(folder=folder)[package], limit
    assert lines <= most, f"{folder}/{package} has {lines:,} lines, {most:,} at most: what can go?"
    assert files <= count, f"{folder}/{package} has {files} files, {count} at most: which of them are one?"


def test_every_test_asserts_something(tmp_path):
    assert size.silent() == [], "assert, or let the helper's name say that it does"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_nothing():\n    print(1)\n")
    assert size.silent(tmp_path) == ["tests/test_it.py::test_nothing"]


def test_sizes_are_counted_by_package(tmp_path):
    package = tmp_path / "reap" / "engine"
    package.mkdir(parents=True)
    (tmp_path / "reap" / "__init__.py").write_text("from reap.engine import one\n")
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from reap.engine.two import A\n\n\nclass B(A): ...\n")
    (package / "two.py").write_text("class A: ...\n\n\nclass B: ...\n")
    assert size.sizes(tmp_path) == {"engine": (8, 3), ".": (1, 1)}
    assert list(size.doubled(tmp_path)) == ["B"]
    assert size.lonely(tmp_path) == ["reap.engine.one", "reap.engine.two"]


def test_the_faces_that_users_hold_are_counted():
    faces = size.faces()
    assert set(faces) == {"Recourse", "Elicitation", "ActionSpace"}
    assert all(public > 5 and parameters > 3 for public, parameters, _ in faces.values())


@pytest.mark.parametrize("kind", size.FACES)
def test_a_face_that_was_made_small_stays_small(kind):
    for name, now, most in zip(
        ("public attributes", "parameters", "levels"), size.faces()[kind], size.FACES[kind], strict=True
    ):
        assert now <= most, f"{kind} has {now} {name}, {most} at most"


def test_a_class_has_a_name_of_its_own():
    assert size.doubled() == {}, "give one of them a name that says what it is"
