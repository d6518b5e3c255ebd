"""A learnt prior and its file: nothing lost, nothing changed unseen, another space refused, no plan ruled out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap.belief import LearnedPrior, Posterior
from reap.belief.learned_prior import WIDEST


def learnt(means, spread=0.5, **changed):
    """A prior whose columns have mean logarithms of weights; people differ little."""
    k = len(means)
    said = {
        "space": "digest",
        "dimension": k,
        "columns": tuple(range(k)),
        "names": tuple(f"x{i}" for i in range(k)),
        "learnt": "weights",
        "mean": [*means, np.log(8.0)],
        "covariance": spread**2 * np.eye(k + 1),
        "powers": [0.0, 0.0, 1.0],
        "lapses": [1.0, 0.0, 0.0],
        "interaction": [1.0, 0.0, 0.0],
        "welcome": np.zeros(k),
        "minded": [],
        "heavy": [],
        "people": 100,
        "answers": 500,
        **changed,
    }
    return LearnedPrior(**said)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-WIDEST, WIDEST), min_size=1, max_size=5), st.floats(0.01, 2.0))
def test_a_prior_and_its_file_are_one(means, spread):
    prior = learnt(means, spread, figures={"gain": 0.25})
    back = LearnedPrior.from_json(prior.to_json())
    assert back.hash == prior.hash
    assert back.to_json() == prior.to_json()
    np.testing.assert_array_equal(
        Posterior(len(means), prior, bank=50).mean, Posterior(len(means), back, bank=50).mean
    )


def test_what_goes_together_over_people_is_learnt_from_one_answer():
    """Who finds the first column hard finds the second hard: an answer about one says something of the other."""
    C = np.eye(4)
    C[0, 1] = C[1, 0] = 0.95
    belief = Posterior(3, learnt([0.0, 0.0, 0.0], covariance=C))
    belief.update([0.0, 0.0, 0.3], [0.3, 0.0, 0.0])
    assert belief.mean[1, 1] > 1.3 * belief.mean[2, 2]


def test_nothing_learnt_is_the_default_to_the_bit():
    nothing = LearnedPrior.default("digest", 4, (0, 1, 2, 3), tuple("abcd"), people=40, answers=200)
    default, same = Posterior(4, beside=2), Posterior(4, nothing, beside=2)
    for belief in (default, same):
        belief.update([1.0, 0, 0, 0, 1, 0], [0, 1.0, 0, 0, 1, 0])
    assert default.mean.tobytes() == same.mean.tobytes()


def test_stated_difficulties_come_on_top():
    prior = learnt([0.0, 2.0])
    plain = Posterior(2, prior).mean
    stated = Posterior(2, prior, difficulties=["very hard", "neither easy nor hard"]).mean
    assert stated[0, 0] / stated[1, 1] > 2 * plain[0, 0] / plain[1, 1]


def test_only_columns_that_move():
    prior = learnt([0.0, 2.0], dimension=4, columns=(1, 3))
    mean = Posterior(4, prior, columns=[1, 3]).mean
    assert mean[3, 3] > 2 * mean[1, 1]
    assert mean[0, 0] == mean[2, 2] == 1.0
    with pytest.raises(reap.InputError, match="fewer columns can move"):
        Posterior(4, prior, columns=[0, 1, 3])
    with pytest.raises(reap.InputError, match="another space"):
        Posterior(5, prior)


def test_how_many_people_mind_the_number_of_changes_is_learnt():
    prior = learnt([0.0, 0.0], minded=[0.6, 0.3], heavy=[1.0, -1.0])
    found = {}
    for name, known in (("learnt", prior), ("default", "people"), ("unknown", learnt([0.0, 0.0]))):
        belief = Posterior(2, known, beside=2)
        found[name] = belief.weights @ (belief.efforts(np.eye(4)[2:]) > 0)
    assert found["learnt"] == pytest.approx([0.6, 0.3], abs=0.05)
    assert found["default"] == pytest.approx([0.1, 0.1], abs=0.03)
    assert found["unknown"] == pytest.approx([0.1, 0.1], abs=0.03)  # nothing was learnt of them
    assert Posterior(2, prior).mean.shape == (2, 2)  # a session that does not look at them


def test_a_prior_only_weighs():
    """The widest means there may be: whoever differs from everybody is still found after some answers."""
    belief = Posterior(
        2, learnt([WIDEST, -WIDEST])
    )  # the first column: ten thousand times as hard as the second
    assert belief.mean[0, 0] > 20 * belief.mean[1, 1]  # but for the few who are as by default
    for far in (0.5, 0.6, 0.7, 0.8, 0.9):  # this person finds the first one much easier
        belief.update([far, 0.0], [0.0, 0.4])
    assert belief.mean[0, 0] < belief.mean[1, 1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mean": [9.0, 0.0, 2.0]}, "mean weight above 100"),
        ({"mean": [float("nan"), 0.0, 2.0]}, "it has NaN in the place of a number"),
        ({"mean": [0.0]}, "for 2 columns"),
        ({"covariance": [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "positive definite"),
        ({"covariance": [[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "symmetric"),
        ({"powers": [0.5, 0.0, 0.0]}, "of sum 1"),
        ({"lapses": [2.0, -1.0, 0.0]}, "from 0 to 1"),
        ({"welcome": [0.0, 1.5]}, "from 0 to 1"),
        ({"learnt": "directions"}, "expected 'nothing' or 'weights'"),
        ({"columns": [0, 7]}, "do not have"),
        ({"version": 2}, "version 2.* learn it again"),
        ({"minded": [0.5], "heavy": []}, "heavy"),
        ({"minded": [0.5], "heavy": [30.0]}, "above 100"),
        ({"format": "reap.session"}, "not a prior"),
        ({"people": 1000}, "changed after it was learnt"),
        ({"names": None}, "damaged"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(changed, said, tmp_path):
    data = {**json.loads(learnt([0.1, 0.2]).to_json()), **changed}
    path = tmp_path / "prior.json"
    path.write_text(json.dumps(data))
    with pytest.raises(reap.InputError, match=said):
        Posterior(2, str(path))


def test_missing_file(tmp_path):
    with pytest.raises(reap.InputError, match="`reap learn` writes a prior"):
        Posterior(2, tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(reap.InputError, match="is not a prior"):
        Posterior(2, tmp_path / "bytes.json")
