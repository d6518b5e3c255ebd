from __future__ import annotations

import pickle

import numpy as np
import pytest

import reap
from reap.models import torch_model, wrap
from tests.models.test_gradients import slopes

pytestmark = pytest.mark.extras


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def net(torch, d, k, *last):
    torch.manual_seed(0)
    layers = torch.nn.Linear(d, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, k)
    return torch.nn.Sequential(*layers, *last).double()


def reference(torch, module, vectors):
    with torch.no_grad():
        return module.eval()(torch.tensor(vectors)).numpy()


def test_logits_probabilities_and_gradients_agree(torch, table, vectors):
    space = table[2]
    module = net(torch, space.dimension, 1)
    chances = torch.nn.Sequential(module, torch.nn.Sigmoid())
    a, b = wrap(torch_model(module, "logit"), space), wrap(torch_model(chances, "probability"), space)
    assert a.has_gradient
    np.testing.assert_allclose(a.logit(vectors), reference(torch, module, vectors)[:, 0], atol=1e-12)
    np.testing.assert_allclose(a.probability(vectors), b.probability(vectors), atol=1e-12)
    np.testing.assert_allclose(a.gradient(vectors), b.gradient(vectors), atol=1e-10)
    np.testing.assert_allclose(a.gradient(vectors), slopes(a, vectors), atol=1e-7)
    other = wrap(torch_model(module, "logit"), space, target=0)
    np.testing.assert_allclose(other.probability(vectors), 1 - a.probability(vectors), atol=1e-12)


@pytest.mark.parametrize("target", [0, 2])
def test_many_classes(torch, table, vectors, target):
    space = table[2]
    module = net(torch, space.dimension, 3)
    chances = torch.nn.Sequential(module, torch.nn.Softmax(dim=1))
    a = wrap(torch_model(module, "logit"), space, target=target)
    b = wrap(torch_model(chances, "probability"), space, target=target)
    expected = reference(torch, chances, vectors)[:, target]
    np.testing.assert_allclose(a.probability(vectors), expected, atol=1e-12)
    np.testing.assert_allclose(b.probability(vectors), expected, atol=1e-12)
    np.testing.assert_allclose(a.gradient(vectors), slopes(a, vectors), atol=1e-7)


def test_single_precision_and_modules_without_parameters(torch, table, vectors):
    space = table[2]
    module = net(torch, space.dimension, 1).float()
    classifier = wrap(torch_model(module, "logit"), space)
    assert classifier.gradient(vectors).dtype == np.float64
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.probability(vectors), classifier.probability(vectors))

    class Sum(torch.nn.Module):
        def forward(self, z):
            return z.sum(dim=1) - 2

    gradient = wrap(torch_model(Sum(), "logit"), space).gradient(vectors)
    np.testing.assert_allclose(gradient, np.ones_like(vectors))


def test_what_is_not_declared_or_does_not_fit_is_said(torch, table):
    space = table[2]
    module = net(torch, space.dimension, 1)
    with pytest.raises(reap.InputError, match="torch_model"):
        wrap(module, space)
    with pytest.raises(reap.InputError, match="did you mean 'logit'"):
        torch_model(module, "logits")
    with pytest.raises(reap.InputError, match="no class 'yes'"):
        wrap(torch_model(module, "logit"), space, target="yes")
    with pytest.raises(reap.InputError, match="Module"):
        torch_model(len, "logit")


def test_a_score_in_its_own_unit(torch, table, vectors):
    space = table[2]
    module = net(torch, space.dimension, 1)
    with torch.no_grad():
        module[-1].weight *= 200  # points
        module[-1].bias += 600
    points = reference(torch, module, vectors)[:, 0]
    enough = float(np.median(points))
    model = wrap(torch_model(module, "score"), space, threshold=enough, output="score", unit="points")
    np.testing.assert_allclose(model.score(vectors), points, atol=1e-6)
    assert np.array_equal(model.accepts(vectors), points > enough)
    assert 0 < model.accepts(vectors).mean() < 1
    assert model.has_gradient
    np.testing.assert_allclose(model.gradient(vectors), slopes(model, vectors), rtol=1e-4, atol=1e-6)


def test_plans_of_a_module_are_said_in_its_unit(torch, table):
    X, _, space = table
    module = net(torch, space.dimension, 1)
    with torch.no_grad():
        module[-1].weight *= 200
        module[-1].bias += 600
    model = torch_model(module, "score")
    Z = space.encode(X)
    points = reference(torch, module, Z)[:, 0]
    high = float(np.quantile(points, 0.7))
    engine = reap.Recourse(model, space, threshold=high, output="score", unit="points").fit(X)
    plan = engine.plans(X.iloc[[int(np.argsort(points)[len(points) // 2])]], np.eye(space.dimension))[0]
    assert plan.valid
    assert plan.score > high
    assert "points" in str(plan)
    assert "out of 100" not in str(plan)
