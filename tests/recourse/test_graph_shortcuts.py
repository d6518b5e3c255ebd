"""Direct plans stripped of what the decision does not need."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.recourse._graph_shortcuts import shortcuts


@pytest.fixture(scope="module")
def views(german_graph, german_rejected):
    return [german_graph._view(german_graph._subject(german_rejected.iloc[[i]]), None) for i in range(8)]


def test_every_target_is_accepted_legal_and_listed_once(views):
    for view in views:
        targets = shortcuts(view, 128, 0)
        assert len(targets) > 0
        assert view.classifier.accepts(targets).all()
        assert view.space.allows(view.z0, targets).all()
        assert len(np.unique(targets.round(9), axis=0)) == len(targets)


def test_what_could_go_has_gone_unless_few_changes_are_left(views):
    for view in views:
        targets = shortcuts(view, 128, 0)
        count = view.space.changed(targets, np.broadcast_to(view.z0, targets.shape)).sum(axis=1)
        least = [target for target, changes in zip(targets, count, strict=True) if changes > 3]
        minimal = [target for target in targets if not _without_one(view, target).any()]
        assert len(minimal) > 0
        assert all(not _without_one(view, target).any() for target in least)


def _without_one(view, target):
    """Which of the rows that leave one change of the target out are accepted."""
    trials = []
    for feature, moved in zip(view.space.features, view.space.changed(target, view.z0)[0], strict=True):
        if moved:
            trial = target.copy()
            trial[view.space.slices[feature.name]] = view.z0[view.space.slices[feature.name]]
            trials.append(trial)
    return view.classifier.accepts(np.array(trials))


def test_more_rows_give_cheaper_plans(german, german_model, german_rejected):
    d = german.space.dimension
    rng = np.random.default_rng(1)
    matrices = np.stack([reap.subjects.Mahalanobis.random(d, rng).matrix for _ in range(4)])
    few, many = (
        reap.GraphRecourse(german_model, german.space, candidate_rows=count).fit(german.X)
        for count in (4, 256)
    )
    costs = [
        sum(plan.cost for i in range(6) for plan in engine.plans(german_rejected.iloc[[i]], matrices))
        for engine in (few, many)
    ]
    assert costs[1] < costs[0]
