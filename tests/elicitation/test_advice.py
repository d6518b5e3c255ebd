"""What a session says where limits leave no plan."""

from __future__ import annotations

import itertools

from reap.recourse.advice import possible, relaxations


def test_a_session_names_limits_that_only_help_together(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[2])
    names = [f.name for f in session.space.features if f.is_action]
    for name in names:
        session.constrain(name, fixed=True)
    (found,) = relaxations(session.limits, possible(german_engine, german_rejected.iloc[2]))
    assert " together with “" in session.recommend().note
    together = list(found)
    assert len(together) >= 2
    for subset in itertools.combinations(together, len(together) - 1):
        for name in subset:
            session.release(name)
        assert session.recommend().status != "ok"
        for _ in subset:
            session.undo()
    for name in together:
        session.release(name)
    assert session.recommend().status == "ok"
