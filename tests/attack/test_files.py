"""Files from outside: every mutated space, plan, session, export and prior is refused with a sentence, or is as good as before.

Hundreds of each kind in the normal run; ``REAP_MUTATIONS=10000`` tries as many of each kind, ``REAP_SEED`` others.
"""

from __future__ import annotations

import functools
import json
import os
import random
import time
import tomllib
from collections import Counter

import numpy as np
import pytest

import reap
from reap import ActionSpace, InputError, Plan
from reap.belief import LearnedPrior
from reap.elicitation import Elicitation, presets
from reap.elicitation.events import read_plans
from reap.learning.reading import read_sessions
from reap.service import exports
from reap.service.log import sealed
from reap.service.store import Kept, now

from .mutations import as_toml, at, changed, garbled

COUNT = int(os.environ.get("REAP_MUTATIONS", "300"))
#: A session is replayed, which takes a tenth of a second.
SESSIONS = int(os.environ.get("REAP_MUTATIONS", "100"))
SEED = int(os.environ.get("REAP_SEED", "0"))
#: Ten thousand files take as long as they take.
pytestmark = pytest.mark.timeout(600 if COUNT <= 300 else 0)


def trial(text, data, write, load, judge, count=COUNT):
    """Load so many mutated files; return how many were refused and how many were as good as before."""
    outcomes, wrong = Counter(), []
    for i in range(count):
        rng = random.Random(f"{SEED}-{i}")
        try:
            made = garbled(text, rng) if i % 4 == 0 else write(changed(data, rng), rng)
        except RecursionError:  # nested too deeply for the test itself to write
            continue
        stage = "raw"
        try:
            loaded = load(made)
            stage = "loaded, but not right"
            judge(loaded)
            outcomes["good"] += 1
        except Exception as error:
            if stage == "raw" and isinstance(error, InputError):
                outcomes["refused"] += 1
                said = str(error)
                if len(said) > 2000:
                    wrong.append((i, "a sentence too long to read", said[:100]))
            else:
                wrong.append((i, stage, repr(error)[:300]))
    print(f"{count} mutated files, seed {SEED}: {dict(outcomes)}, wrong {len(wrong)}")
    assert not wrong, "\n".join(map(str, wrong[:12]))
    return outcomes


def dumped(data, rng):
    return json.dumps(data)


def written(thing):
    """The JSON of a plan or session: it can be written, and every number in it is one."""

    def no_number(word):
        raise AssertionError(word)

    text = thing.to_json()
    json.loads(text, parse_constant=no_number)
    return text.encode().decode()


# spaces -------------------------------------------------------------------------------------------------


def right_space(space):
    again = ActionSpace.from_toml(space.to_toml())
    assert again == space
    assert again.digest == space.digest
    assert isinstance(space.encoded, bool)
    space.describe()


@pytest.mark.parametrize("name", ["german", "heloc"])
def test_spaces(load, name):
    text = load(name).space.to_toml()
    outcomes = trial(
        text, tomllib.loads(text), lambda data, rng: as_toml(data), ActionSpace.from_toml, right_space
    )
    assert outcomes["refused"] > COUNT / 4


@pytest.mark.parametrize(
    "wrong", ['encoded = "no"', "encoded = 1", 'max_changes = "2"', "title = 3", "horizon = 1.5"]
)
def test_settings_of_the_wrong_type_are_refused(wrong):
    with pytest.raises(InputError):
        ActionSpace.from_toml(f"[space]\n{wrong}\n[features.a]\nrange = [0, 5]\n")


@pytest.mark.parametrize("wrong", [f"range = [0, {10**400}]", f"range = [0, 5]\nstep = {10**400}"])
def test_numbers_beyond_every_measure_are_refused(wrong):
    with pytest.raises(InputError):
        ActionSpace.from_toml(f"[features.a]\n{wrong}\n")


def test_less_than_nothing_is_nothing():
    space = ActionSpace.from_toml("[features.a]\nrange = [-0.0, 5]\nspan = [-0.0, 5]\n")
    assert ActionSpace.from_toml(space.to_toml()) == space


# plans --------------------------------------------------------------------------------------------------


def right_plan(plan):
    """Legal, accepted where it says so, finite; and it can be said, drawn up and written."""
    assert np.isfinite(plan.scores).all()
    if plan.scale.output == "probability":
        assert ((plan.scores >= 0) & (plan.scores <= 1)).all()
    if plan.status == "ok":
        assert plan.scale.enough(plan.scores[-1])
        assert np.isfinite(plan.effort)
        assert plan.space.allows(plan.path[0], plan.path[-1]).all()
    str(plan)
    plan.to_frame()
    again = Plan.from_json(written(plan))
    np.testing.assert_array_equal(again.path, plan.path)


@pytest.fixture(scope="module")
def plan(german_engine, german_rejected):
    return german_engine.plans(german_rejected.iloc[[0]], np.eye(german_engine.space.dimension)[None])[0]


def test_plans(plan):
    text = plan.to_json()
    outcomes = trial(text, json.loads(text), dumped, Plan.from_json, right_plan)
    assert outcomes["refused"] > COUNT / 4


#: One place of a plan, and what was once let in there or ended in a raw exception.
STRANGE_PLANS = [
    *[("scale threshold", value) for value in ([], [0.5], [None, None], [1, 0], "0.5x", {})],
    *[("path", value) for value in ("", {}, [])],
    *[("path 0 0", value) for value in (1e308, -1e300)],
    ("path 0 7", 1e308),
    *[("path -1 0", value) for value in ("0.7", "NaN", [0.7])],
    *[("scores -1", value) for value in ("0.7", "NaN", [0.7])],
    *[("durability", value) for value in (10**400, float("nan"), "NaN", True, [1], -2)],
    *[(name, 10**400) for name in ("neighbors", "refits", "price", "bound", "effort")],
    ("note", "\ud800"),
]


@pytest.mark.parametrize(("place", "value"), STRANGE_PLANS)
def test_a_plan_that_nobody_can_have_written(plan, place, value):
    data = json.loads(plan.to_json())
    *way, last = [int(name) if name.lstrip("-").isdigit() else name for name in place.split()]
    at(data, tuple(way))[last] = value
    with pytest.raises(InputError):
        Plan.from_json(json.dumps(data))


def test_plans_whose_space_is_given(plan):
    text = json.dumps(plan.to_dict(standalone=False))
    outcomes = trial(
        text, json.loads(text), dumped, lambda text: Plan.from_json(text, plan.space), right_plan, COUNT // 2
    )
    assert outcomes["refused"] > COUNT / 10


# sessions -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick():
    """Ten thousand replays learn with fewer particles: what is learnt has no part in whether a file is sound."""
    with pytest.MonkeyPatch.context() as patch:
        if SESSIONS > 1000:
            patch.setattr(presets, "Posterior", functools.partial(presets.Posterior, bank=40))
        yield


@pytest.fixture(scope="module")
def talked(german_engine, german_rejected, quick):
    """A session with everything in it: a screening, answers, a limit, a wish, plans, and plans that are refused."""
    for i in range(len(german_rejected)):
        session = german_engine.elicit(german_rejected.iloc[[i]], questions=3)
        session.screen(session.changeable[1:], difficulty={session.changeable[1]: 4})
        if session.ask() is None:
            continue
        session.answer("left")
        if session.ask() is None:
            continue
        session.answer("neither", impossible=["duration"])
        if session.ask() is None:
            continue
        session.constrain("amount", difficulty=4)
        if session.recommend().status != "ok":
            continue
        session.refuse(session.plans(1))
        if session.ask() is not None and session.recommend().status == "ok":
            assert {e.type for e in session.events} >= {"screened", "answered", "constrained", "refused"}
            return session
    raise AssertionError("nobody has three questions, and a plan left after refusing one")


def right_session(engine):
    def judge(session):
        """Everything stored is legal and scored as the model scores it; the session goes on."""
        classifier = engine.classifier_
        for known in session.pool:
            assert session.space.allows(known.path[0], known.path[-1]).all()
            assert classifier.accepts(known.path[-1:]).all()
            np.testing.assert_allclose(classifier.score(known.path), known.scores, atol=1e-5)
            assert np.isfinite(known.effort)
            str(known)
        for question, choice, _ in session.history:
            str(question)
            assert choice in ("same", "neither", "skip") or 0 <= choice < len(question.options)
        row = session.space.encode(session.space.decode(session.here[None]))[0]
        np.testing.assert_allclose(row, session.here, rtol=0, atol=1e-9)  # 10⁻³²⁰ for 0 is the same row
        str(session.ask())
        assert np.isfinite(session.belief.estimate()).all()
        right_plan(session.recommend())
        written(session)

    return judge


def test_sessions(talked, german_engine):
    text = talked.to_json()
    outcomes = trial(
        text,
        json.loads(text),
        dumped,
        lambda text: Elicitation.from_json(text, german_engine),
        right_session(german_engine),
        SESSIONS,
    )
    assert outcomes["refused"] > SESSIONS / 4


def test_sessions_that_teach_a_prior(talked, german_engine):
    """Learning has no model at hand; what is let in is legal and finite all the same."""
    text, space = talked.to_json(), german_engine.space

    def judge(read):
        for comparison in (answer for person in read.past.people for answer in person):
            assert all(np.isfinite(moves).all() for moves in comparison.moves)
            assert comparison.beside is None or np.isfinite(comparison.beside).all()

    def load(text):
        return read_sessions([text], space)

    assert len(load(text).past) == 1
    outcomes = trial(text, json.loads(text), dumped, load, judge, SESSIONS)
    assert outcomes["refused"] > SESSIONS / 4


#: One place of an event, or of a question or plan in it, changed to what nobody can have said.
STRANGE_ACTS = {
    "started": [
        *[("settings questions", value) for value in (-1, True, "3", 10**6)],
        *[("settings preset", value) for value in ("bayes", {}, {"name": "bayes", "center": 1})],
        *[("settings preset minds", 1), ("settings preset rows", 1.5), ("settings preset samples", 10**9)],
        *[("own", value) for value in ("belief", [1], [[]])],
        *[("limits", {"fxied": ["amount"]}), ("reap", 7), ("reap", "\ud800")],
    ],
    "asked": [
        *[("question number", value) for value in (-1, True, 1.5, 10**30)],
        *[("question gain", value) for value in (float("nan"), "1", [])],
        *[("question options", value) for value in ([0, -1], [0, True], [0, 10**6], [0, 0])],
        *[("question whole", "no"), ("found", [-1]), ("found", ["0"])],
        *[("plans durability", value) for value in ("x", -5, True, float("nan"), 10**400)],
        *[("plans price", "x"), ("plans refits", -5), ("plans neighbors", 0), ("plans along", None)],
        *[("plans cliffs", [{}]), ("plans note", "\ud800")],
    ],
    "answered": [("question", value) for value in ("x", 7, None, [])],
    "screened": [
        *[("changeable", value) for value in ("amount", ["height"], None, 7)],
        *[("difficulty", value) for value in ({"amount": 9}, {"height": 2}, [["amount", 2]])],
        *[("limits", value) for value in ({"fixed": ["height"]}, {"at_most": {"amount": 1}}, [])],
    ],
    "refused": [
        *[("plans", value) for value in ([], [[]], {})],
        *[("impossible", value) for value in (["height"], "amount", None)],
    ],
}


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, *case) for kind, cases in STRANGE_ACTS.items() for case in cases]
)
def test_an_event_that_nobody_can_have_said(talked, german_engine, kind, name, value):
    data = json.loads(talked.to_json())
    event = next(event for event in data["events"] if event["type"] == kind)
    *way, name = name.split()
    for part in way:
        event = event[part][0] if part == "plans" else event[part]
    assert name in event
    event[name] = value
    with pytest.raises(InputError):
        Elicitation.from_json(json.dumps(data), german_engine)


def resealed(data, rng):
    """An export whose payloads were changed by somebody who knows how hashes are made."""
    row, before, entries = data["session"], "", []
    for place, item in enumerate(data["events"]):
        payload = changed(item["payload"], rng) if place == data["victim"] else item["payload"]
        entry = sealed(row["id"], place, item["type"], payload, None, item["created"], before)
        before = entry.hash
        entries.append(entry)
    kept = Kept(**{**row, "events": len(entries), "head": before, "version": reap.__version__})
    return exports.as_json(kept, entries)


@pytest.fixture(scope="module")
def log(talked):
    events = [{"type": e.type, "payload": dict(e.payload), "created": now()} for e in talked.events]
    row = {
        "id": "ab" * 8,
        "token_hash": "0" * 64,
        "created": now(),
        "expires": now(),
        "model": "m",
        "data": "d",
    }
    return {"session": row, "events": events}


def test_exports_whose_chain_was_made_anew(log, german_engine):
    """Hashes tell of accidents; whoever makes the chain anew still gets nothing in that is not legal."""

    def write(_, rng):
        while True:
            try:
                return resealed({**log, "victim": rng.randrange(len(log["events"]))}, rng)
            except (ValueError, AttributeError, TypeError):  # not JSON any more: not a number, not a mapping
                continue

    text = resealed({**log, "victim": -1}, random.Random(0))
    outcomes = trial(
        text,
        log,
        write,
        lambda text: exports.load(text, german_engine),
        right_session(german_engine),
        SESSIONS,
    )
    assert outcomes["refused"] > SESSIONS / 4


def test_exports(log, german_engine):
    text = resealed({**log, "victim": -1}, random.Random(0))
    right_session(german_engine)(exports.load(text, german_engine))
    outcomes = trial(
        text,
        json.loads(text),
        dumped,
        lambda text: exports.load(text, german_engine),
        right_session(german_engine),
        SESSIONS,
    )
    assert outcomes["refused"] > SESSIONS / 2


def test_a_cut_export_or_one_with_events_of_another_session_is_refused(log, german_engine):
    """Each hash was checked, the chain was not."""
    first, second = (
        json.loads(resealed({**log, "session": {**log["session"], "id": name * 8}, "victim": -1}, None))
        for name in ("ab", "cd")
    )
    exports.load(json.dumps(first), german_engine)
    own = {"events": len(second["events"]), "head": second["events"][-1]["hash"]}
    for forged in (
        {"events": first["events"][:-1]},
        {"events": first["events"][1:]},
        {"events": [*first["events"][:-1], second["events"][-1]]},
        {"events": second["events"]},
        {"events": second["events"], "session": {**first["session"], **own}},
    ):
        with pytest.raises(InputError):
            exports.load(json.dumps({**first, **forged}), german_engine)


# forgeries ----------------------------------------------------------------------------------------------


class Forger:
    """Somebody who knows the format and the model, and changes one thing of a session so that all else fits."""

    def __init__(self, talked, engine):
        self.engine, self.space = engine, engine.space
        self.data = json.loads(talked.to_json())

    def event(self, kind):
        """The last event of a kind."""
        return next(event for event in reversed(self.data["events"]) if event["type"] == kind)

    @property
    def plan(self):
        """A plan that the engine found last."""
        asked = [event for event in self.data["events"] if event["type"] == "asked" and event["found"]]
        return asked[-1]["plans"][asked[-1]["found"][0]]

    def end(self, **values):
        """Let the plan end at other values, scored as the model scores them; it must still be accepted."""
        z = self.space.vector({**self.space.values(np.array(self.plan["path"][-1])), **values})
        self.plan["path"][-1], self.plan["scores"][-1] = (
            z.tolist(),
            float(self.engine.classifier_.score(z[None])[0]),
        )
        assert self.engine.classifier_.accepts(z[None]).all()

    def a_score_a_thousandth_off(self):
        self.plan["scores"][1] += 1e-3

    def an_end_that_is_rejected(self):
        del self.plan["path"][2:], self.plan["scores"][2:]

    def an_end_that_is_not_allowed(self):
        subject, end = self.event("started")["subject"], np.array(self.plan["path"][-1])
        kept = [f for f in self.space.features if not f.is_action]  # what nobody changes
        ways = [(f.name, level) for f in kept for level in f.levels if level != subject[f.name]]
        ways += [("age", subject["age"] + years) for years in range(3, 40)]
        for name, value in ways:
            z = self.space.vector({**self.space.values(end), name: value})
            if self.engine.classifier_.accepts(z[None]).all():
                self.end(**{name: value})
                return
        raise AssertionError("no forged end is accepted by the model")

    def another_beginning(self):
        z = self.space.vector({**self.event("started")["subject"], "duration": 47})
        score = float(self.engine.classifier_.score(z[None])[0])
        self.plan["path"][0], self.plan["scores"][0] = z.tolist(), score

    def a_person_between_two_rows(self):
        self.event("started")["z"][self.space.slices["duration"].start] += 1e-4

    def values_of_somebody_else(self):
        self.event("started")["subject"]["amount"] += 1

    def an_answer_that_is_none(self):
        self.event("answered")["choice"] = False

    def an_end_that_the_person_ruled_out(self):
        assert self.event("screened")["limits"] == {"fixed": ["status"]}
        self.end(status="0 to 200 DM")

    @property
    def ruled_out(self):
        """A plan of before the person ruled out another duration: legal, accepted, scored, and gone from the pool since."""
        assert self.event("answered")["impossible"] == ["duration"]
        known = [plan for event in self.data["events"] if event["type"] == "asked" for plan in event["plans"]]
        column = self.space.slices["duration"].start
        return next(plan for plan in known if plan["path"][0][column] != plan["path"][-1][column])

    def a_recommendation_that_the_person_ruled_out(self):
        (made,) = read_plans([self.ruled_out], self.space)
        self.event("recommended")["plan"] = made.to_dict(standalone=False)

    def a_refusal_of_what_the_person_ruled_out(self):
        self.event("refused")["plans"] = [self.ruled_out]

    def an_option_that_the_person_ruled_out(self):
        asked = self.event("asked")
        asked["plans"][asked["question"]["options"][1]] = self.ruled_out

    def a_part_that_the_person_ruled_out(self):
        self.an_option_that_the_person_ruled_out()
        self.event("asked")["question"]["whole"] = False

    def thousands_of_questions(self):
        self.event("started")["settings"]["questions"] = 1001

    def another_threshold(self):
        self.plan["scale"]["threshold"] = 0.4

    def a_wish_about_nothing(self):
        self.event("constrained").update(feature="height", difficulty=None)


FORGERIES = {
    Forger.a_score_a_thousandth_off: "scores are not the model's",
    Forger.an_end_that_is_rejected: "rejects where a plan ends",
    Forger.an_end_that_is_not_allowed: "does not allow what a plan advises",
    Forger.another_beginning: "begins where the person does not stand",
    Forger.a_person_between_two_rows: "is not a row of the table",
    Forger.values_of_somebody_else: "values and their vector disagree",
    Forger.an_answer_that_is_none: "is not one of A, B",
    Forger.an_end_that_the_person_ruled_out: "breaks the person's limits",
    Forger.a_recommendation_that_the_person_ruled_out: "breaks the person's limits",
    Forger.a_refusal_of_what_the_person_ruled_out: "breaks the person's limits",
    Forger.an_option_that_the_person_ruled_out: "breaks the person's limits",
    Forger.a_part_that_the_person_ruled_out: "breaks the person's limits",
    Forger.thousands_of_questions: "setting questions is 1001",
    Forger.another_threshold: "of another kind than the model's",
    Forger.a_wish_about_nothing: "height",
}


@pytest.mark.parametrize("kind", ["session", "export"])
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.__name__)
def test_one_thing_forged_and_all_else_made_to_fit(talked, log, german_engine, forgery, kind):
    """Changes at random rarely get so far: each of these is refused by one look alone."""
    forger = Forger(talked, german_engine)
    forgery(forger)
    load, text = Elicitation.from_json, json.dumps(forger.data)
    if kind == "export":
        events = [
            {"type": event.pop("type"), "payload": event, "created": now()} for event in forger.data["events"]
        ]
        load, text = exports.load, resealed({**log, "events": events, "victim": -1}, random.Random(0))
    with pytest.raises(InputError, match=FORGERIES[forgery]):
        load(text, german_engine)


# priors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [10**30, 10**9, -1, True, 22.0, "22", None])
def test_a_prior_of_any_number_of_columns_is_refused_at_once(german, dimension):
    """10³⁰ columns were listed one by one, until the memory was full."""
    prior = LearnedPrior.default(
        german.space.digest, german.space.dimension, (0, 1, 2), ("a", "b", "c"), people=30, answers=90
    )
    data = {**json.loads(prior.to_json()), "dimension": dimension}
    begin = time.process_time()
    with pytest.raises(InputError):
        LearnedPrior.from_json(json.dumps(data))
    assert time.process_time() - begin < 1.0


def test_priors(german):
    prior = LearnedPrior.default(
        german.space.digest, german.space.dimension, (0, 1, 2), ("a", "b", "c"), people=30, answers=90
    )

    def judge(made):
        assert made.hash == prior.hash
        assert np.isfinite(made.population.root).all()

    text = prior.to_json()
    outcomes = trial(text, json.loads(text), dumped, LearnedPrior.from_json, judge)
    assert outcomes["refused"] > COUNT / 2
