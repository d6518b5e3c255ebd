"""A bad day, for as long as you like: repeated requests, kills -9, a database that goes away, thousands of idle connections.

In the ordinary run a sample; ``REAP_ATTACK=20`` makes it 20 times as long, ``REAP_SEED`` takes other moments. Each prints what it
counted (``pytest -s``); docs/operate.md has the figures.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import random
import secrets
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from reap.elicitation import VERBS, Elicitation, in_force
from reap.service import exports
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store
from tests.service import crashing
from tests.service.conftest import ADMIN, cluster
from tests.service.serving import start, stop

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
pytestmark = pytest.mark.timeout(600 if TIMES == 1 else 0)
SEED = int(os.environ.get("REAP_SEED", "0"))
#: Requests sent at the same moment.
AT_ONCE = 20
#: People who go on while the server or the database goes down.
PEOPLE = 3
#: Acts of a session before its person starts another one.
LONGEST = 8
#: Acts that are acknowledged between one kill and the next.
BETWEEN = 5


def told(client, path, body, troubles):
    """Send a request until it is acknowledged, as every client may with its key; note each trouble on the way."""
    while True:
        try:
            answer = client.post(path, json=body)
        except httpx.TransportError as error:  # an idle connection that the server closes just then, for one
            troubles[repr(error)] += 1
            continue
        if answer.status_code != 503:
            return answer
        troubles[f"503 {answer.text[:120]}"] += 1
        time.sleep(0.05)


def test_repeated_requests_count_once(serve, database, quick):
    """Every answer is sent twenty times at once to two workers, each time with one key."""
    workers = [serve(database, starts=0), serve(database, starts=0)]
    rng, posts, rounds, troubles = random.Random(SEED), 0, 2 * TIMES, Counter()
    token = state = None
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(base_url=w.url, timeout=300)) for w in workers]
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        for place in range(rounds):
            while state is None or state["question"] is None:  # with some seeds there is nothing to ask
                begun = workers[0].start(quick, seed=rng.randrange(10**6))
                token, state = begun["token"], begun["state"]
            body = {
                "question": state["question"]["id"],
                "revision": state["revision"],
                "choice": rng.choice(["left", "right", "same", "skip"]),
                "key": secrets.token_hex(8),
            }
            path = f"/api/v1/sessions/{token}/answers"
            sent = [pool.submit(told, clients[i % 2], path, body, troubles) for i in range(AT_ONCE)]
            answers = [each.result() for each in sent]
            posts += len(answers)
            wrong = {
                (answer.status_code, answer.text[:500]) for answer in answers if answer.status_code != 200
            }
            assert not wrong, f"answer {place}, seed {SEED}: {wrong}; troubles before it: {dict(troubles)}"
            found = [answer.json() for answer in answers]
            stored = [{k: v for k, v in each.items() if k != "state"} for each in found]
            assert all(each == stored[0] for each in stored), f"answer {place}, seed {SEED}: {stored}"
            asked = {str(each["state"]["question"]) for each in found}
            assert len(asked) == 1, f"answer {place}, seed {SEED}: {asked}"
            state = found[0]["state"]
    counted = Counter(event.key for event in workers[0].events("answered"))
    print(
        f"{posts} parallel posts of {rounds} answers, seed {SEED}: {sum(counted.values())} events, troubles {dict(troubles)}"
    )
    assert len(counted) == rounds
    assert set(counted.values()) == {1}
    assert list(workers[0].store.faults()) == []


class Person:
    """Somebody who says one thing after the other, and says it again, with the same key, until it is acknowledged."""

    def __init__(self, address, row, seed, over):
        self.address, self.row, self.over = address, row, over
        self.rng = random.Random(seed)
        self.said: list[tuple[str, str, dict]] = []  # session, key, what was acknowledged
        self.repeated, self.wrong = 0, []

    def live(self):
        """Go on until it is over; every outcome but an answer or a moment's trouble is wrong."""
        try:
            while not self.over.is_set():
                self._session()
        except Exception as error:  # in a thread of its own: the test looks at what went wrong
            self.wrong.append(repr(error))

    def _session(self):
        begun = self._until_answered("POST", "/api/v1/sessions", 201, json={"subject": self.row})
        if begun is None:
            return
        here, state = f"/api/v1/sessions/{begun['token']}", begun["state"]
        for number in range(LONGEST):
            key = secrets.token_hex(8)
            if number % 4 == 3:
                body, path = (
                    {"feature": "amount", "difficulty": self.rng.randint(1, 5), "key": key},
                    "constraints",
                )
            elif state["question"] is None:
                return
            else:
                choice = self.rng.choice([0, 1])
                body = {
                    "question": state["question"]["id"],
                    "revision": state["revision"],
                    "choice": choice,
                    "key": key,
                }
                path = "answers"
            told = self._until_answered("POST", f"{here}/{path}", 200, json=body)
            if told is None:
                return
            self.said.append((begun["token"], key, body))
            state = told.get("state", told)

    def _until_answered(self, method, path, status, **body):
        attempt = 0
        while attempt == 0 or not self.over.is_set():
            try:
                answer = httpx.request(method, self.address() + path, timeout=120, **body)
                if answer.status_code == status:
                    self.repeated += attempt > 0
                    return answer.json()
                if answer.status_code != 503:
                    self.wrong.append(f"{path.rsplit('/', 1)[-1]}: {answer.status_code} {answer.text[:200]}")
                    return None
            except httpx.TransportError:
                pass  # killed under way, or not up yet
            attempt += 1
            time.sleep(0.05)
        return None


@contextlib.contextmanager
def crowd(address, row):
    """Several people who act until the end of the block; then whatever they were told is looked for."""
    over = threading.Event()
    people = [Person(address, row, f"{SEED}-{i}", over) for i in range(PEOPLE)]
    threads = [threading.Thread(target=person.live) for person in people]
    for thread in threads:
        thread.start()
    try:
        yield people
    finally:
        over.set()
        for thread in threads:
            thread.join()


def judged(store, people):
    """Count what was acknowledged: each act is in the log once, as it was said, and every chain is whole."""
    wrong = [each for person in people for each in person.wrong]
    assert not wrong, wrong[:5]
    events = [event for kept in store.sessions() for event in store.events(kept.id)]
    times = Counter(event.key for event in events if event.key is not None)
    assert set(times.values()) <= {1}
    by_key = {event.key: event.payload for event in events if event.key is not None}
    acknowledged = [said for person in people for said in person.said]
    for _, key, body in acknowledged:
        stored = by_key[key]
        assert {name: stored[name] for name in ("choice", "difficulty", "feature") if name in body} == {
            name: body[name] for name in ("choice", "difficulty", "feature") if name in body
        }
    assert list(store.faults()) == []
    return len(acknowledged), sum(person.repeated for person in people)


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["tests.service.crashing", "sklearn.linear_model", "reap.recourse.recourse"]
    )
    return context


def test_kills_lose_double_and_change_nothing(processes, case, quick, database, tmp_path):
    """The server is killed at any moment, or right after a commit, people repeat what was not acknowledged, and the next goes on.

    An answer names the question and the revision at which it was seen: after a kill the session stands at the same question.
    """
    file = tmp_path / "case"
    file.write_bytes(pickle.dumps(case))
    settings = Settings(database_url=database, admin_key=ADMIN, rate=0, starts=0, questions=5, time_limit=300)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    rng, kills = random.Random(SEED), 2 * TIMES

    def serving():
        commits = rng.choice([None, rng.randint(1, 3 * BETWEEN)])  # after which it kills itself
        child = processes.Process(
            target=crashing.serve, args=(file, settings, listener, commits), daemon=True
        )
        child.start()
        return child

    child = serving()
    try:
        with crowd(lambda: f"http://127.0.0.1:{listener.getsockname()[1]}", quick) as people:
            for _ in range(kills):
                wanted = sum(len(person.said) for person in people) + BETWEEN
                while sum(len(person.said) for person in people) < wanted and child.is_alive():
                    assert not any(person.wrong for person in people), [p.wrong for p in people]
                    time.sleep(0.01)
                time.sleep(rng.random())
                child.kill()
                child.join()
                child = serving()
    finally:
        child.kill()
        child.join()
        listener.close()
    store = Store(database)
    store.prepare()
    acts, again = judged(store, people)
    plans = replayed(Desk(case, store, settings), people)
    print(
        f"{kills} kills -9, seed {SEED}: {acts} acknowledged acts, {again} after a repetition; none lost or doubled; "
        f"{plans} plans replayed to the byte"
    )
    assert acts >= kills
    store.engine.dispose()


def replayed(desk, people):
    """Count the plans of the sessions of the storm: each log gives its plan again to the byte, and so do its answers alone."""
    tokens = {token for person in people for token, _, _ in person.said}
    for token in sorted(tokens):
        with desk.open(token) as live:
            desk.plan(live)
        kept, entries = desk.log(token)
        line = in_force(entries)
        stored = next(entry for entry in reversed(line) if entry.type == "recommended").payload["plan"]
        again = exports.load(exports.as_json(kept, entries), desk.case.engine).recommend()
        assert json.dumps(again.to_dict(standalone=False)) == json.dumps(stored)
        said = [entry.event for entry in line if entry.type in VERBS and entry.type != "recommended"]
        computed = Elicitation.of(said, desk.case.engine).recommend().to_dict(standalone=False)
        assert (computed["path"], computed["changes"]) == (stored["path"], stored["changes"])
    return len(tokens)


def test_a_database_that_restarts_loses_doubles_and_changes_nothing(serve, quick):
    rng, restarts = random.Random(SEED), TIMES
    with cluster() as own:
        service = serve(own.new(), starts=0)
        with crowd(lambda: service.url, quick) as people:
            for _ in range(restarts):
                before = sum(len(person.said) for person in people)
                while sum(len(person.said) for person in people) == before:
                    time.sleep(0.01)
                time.sleep(rng.random())
                own.stop()
                own.start()
        acts, again = judged(service.store, people)
        print(
            f"{restarts} restarts of the database, seed {SEED}: {acts} acknowledged acts, {again} after a repetition"
        )
        assert acts >= restarts
        service.store.engine.dispose()


@pytest.mark.long
def test_thousands_of_idle_connections_leave_room_for_others(german_model, tmp_path):
    """2,100 of them stopped the service, and its log was 107 MB of tracebacks."""
    import resource

    from reap.models.files import save_model

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = min(4200, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, many + 200), hard))
    save_model(german_model, tmp_path / "model.skops")
    process, url = start(tmp_path)
    idle = []
    try:
        host, port = url.removeprefix("http://").split(":")
        for k in range(many):
            with contextlib.suppress(OSError):  # refused while there are too many: that is the point
                idle.append(socket.create_connection((host, int(port)), timeout=5))
                if k % 2:
                    idle[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        end = time.monotonic() + 120
        answered = None
        while answered is None and time.monotonic() < end:
            with contextlib.suppress(
                httpx.TransportError
            ):  # a worker that is full hangs up; idle ones are left after 15 s
                answered = httpx.get(f"{url}/healthz", timeout=20).status_code
        assert answered == 200
        lines = "".join(path.read_text() for path in tmp_path.glob("log-*")).splitlines()
        assert all(line.startswith("{") for line in lines)
        print(f"{len(idle)} idle connections: answered; {sum(map(len, lines))} characters of log")
    finally:
        for connection in idle:
            connection.close()
        stop(process)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
