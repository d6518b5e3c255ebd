"""A network (20, 50, 20) is about as good as the paper's on every data set."""

from __future__ import annotations

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from reap.datasets import load
from reap.models import wrap

#: accuracy, AUC
PAPER = {
    "synthetic": (0.98, 0.99),
    "german": (0.72, 0.62),
    "bank": (0.89, 0.68),
    "student": (0.93, 0.97),
    "adult": (0.85, 0.90),
    "compas": (0.83, 0.82),
    "gmc": (0.94, 0.84),
    "heloc": (0.74, 0.81),
}


@pytest.mark.slow
def test_accuracy_is_about_the_papers(name):
    data = load(name, paper=True)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=42)
    epochs = 100 if len(X) < 10_000 else 15
    network = MLPClassifier((20, 50, 20), max_iter=epochs, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(X, y)
    classifier = wrap(model, data.space)
    p = classifier.probability(data.space.encode(X_test))
    accuracy, auc = accuracy_score(y_test, p > classifier.threshold), roc_auc_score(y_test, p)
    rejected = int((p <= classifier.threshold).sum())
    print(
        f"{name}: accuracy {accuracy:.3f} (paper {PAPER[name][0]:.2f}), AUC {auc:.3f} (paper {PAPER[name][1]:.2f}), "
        f"{rejected} of {len(p)} rejected"
    )
    assert abs(accuracy - PAPER[name][0]) <= 0.03
    # A floor only: ours is higher on German credit. Outliers squeeze GMC's min–max scale, which costs it most.
    assert auc >= PAPER[name][1] - 0.06
    assert rejected > 0
