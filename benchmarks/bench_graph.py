"""Graph plans on Adult: fit, one plan for a fresh subject, many matrices, the worst case; FACE on the same graph."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from statistics import median

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import dijkstra
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks._harness import Row
from reap import effort


class Face:
    """FACE as published (Poyiadzi et al. 2020, k-NN variant): rows as they are, Euclidean edges, Dijkstra over all.

    The graph is built once, which the published code does for every subject: that part is given to the peer for free.
    """

    def __init__(self, Z, accepted, neighbors=10):
        graph = kneighbors_graph(Z, neighbors, mode="distance")
        self.graph = graph.maximum(graph.T).tocsr()
        self.graph.data **= 2
        self.search = NearestNeighbors(n_neighbors=neighbors).fit(Z)
        self.accepted = np.flatnonzero(accepted)

    def effort(self, z):
        n = self.graph.shape[0]
        away, near = self.search.kneighbors(z[None])
        link = csr_array((away[0] ** 2, (np.zeros(len(near[0]), dtype=int), near[0])), shape=(1, n + 1))
        wide = csr_array((self.graph.data, self.graph.indices, self.graph.indptr), shape=(n, n + 1))
        return dijkstra(vstack([wide, link], format="csr"), indices=n)[self.accepted].min()


def timed(call, items):
    """Seconds for each item."""
    times = []
    for item in items:
        start = time.perf_counter()
        call(item)
        times.append(time.perf_counter() - start)
    return times


def random_matrices(rng, d, count):
    G = rng.normal(size=(count, d, d))
    A = G @ G.transpose(0, 2, 1)
    return A / np.linalg.eigvalsh(A)[:, -1, None, None]


def answered(rng, engine, x, answers=5):
    """A confidence set after some truthful answers about rows; after none where there are no two rows to compare."""
    d = engine.space.dimension
    beliefs, A = reap.ConfidenceSet(d), random_matrices(rng, d, 1)[0]
    moves = engine.candidates(x).moves
    for _ in range(answers if len(moves) > 1 else 0):
        pair = moves[rng.choice(len(moves), 2, replace=False)]
        beliefs.add(*pair[np.argsort(effort.of_change(A, pair), kind="stable")])
    return beliefs


def run(quick: bool) -> list[Row]:
    """Times on 39,000 training rows; subjects are rejected people of the test part."""
    data = reap.datasets.load("adult")
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.X))
    cut = 5_000 if quick else int(0.8 * len(order))
    X, rest = data.X.iloc[order[:cut]], data.X.iloc[order[-2_000:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), MLPClassifier((20,), max_iter=30, random_state=0))
        model.fit(X, data.y.iloc[order[:cut]])
    rejected = rest[model.predict(rest) == 0]
    subjects = [rejected.iloc[[i]] for i in range(20 if quick else 100)]
    d = data.space.dimension

    start = time.perf_counter()
    engine = reap.GraphRecourse(model, data.space).fit(X)
    engine.rows_.graph(engine.n_neighbors)
    fit = time.perf_counter() - start
    # kilobytes on Linux, bytes on a Mac; the whole process, data and libraries included
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)

    def planned(people, matrices):
        """Seconds for each person, and their plans; every one has matrices of their own, drawn beforehand."""
        items, found = [(x, random_matrices(rng, d, matrices)) for x in people], []
        return timed(lambda item: found.extend(engine.plans(*item)), items), found

    cold, plans = planned(subjects, 1)
    recent = subjects[-8:]
    warm, _ = planned(recent * 3, 1)
    forty, _ = planned(recent * 3, 40)
    sets = {id(x): answered(rng, engine, x) for x in subjects[:40]}
    engine._kept.clear()
    robust = timed(lambda x: engine.robust(x, sets[id(x)]), subjects[:40])

    Z = np.unique(data.space.encode(X), axis=0)
    face = Face(Z, engine.classifier_.accepts(Z))
    theirs = timed(face.effort, [data.space.vector(x) for x in subjects[:20]])
    valid = f"{sum(plan.valid for plan in plans)} of {len(plans)} subjects have a plan"
    steps = f"{np.mean([len(plan.moves) for plan in plans]):.1f} steps on average"
    return [
        Row.limit(f"graph fit, {cut:,} rows of Adult", fit, "s", at_most=30),
        Row.limit("graph fit on Adult, peak memory of the process", peak, "MB", at_most=1000),
        Row.limit(
            "graph plan on Adult, fresh subject, median", median(cold) * 1e3, "ms", at_most=10, note=valid
        ),
        Row.limit(
            "graph plan on Adult, fresh subject, 95th percentile",
            float(np.quantile(cold, 0.95)) * 1e3,
            "ms",
            at_most=50,
            note=steps,
        ),
        Row.limit("graph plan on Adult, subject known, median", median(warm) * 1e3, "ms"),
        Row.limit("graph plans on Adult, 40 matrices, median", median(forty) * 1e3, "ms"),
        Row.limit(
            "graph worst-case plan on Adult, fresh subject, median", median(robust) * 1e3, "ms", at_most=150
        ),
        Row.speedup(
            "graph plan on Adult, fresh subject", "FACE, its graph given", median(cold), median(theirs)
        ),
    ]
