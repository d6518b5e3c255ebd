# %% [markdown]
# # A population prior
# What forty people answered teaches something about the next one: fewer questions, and a better first plan.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.learning import describe

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.integers(0, 21, (300, 3)), columns=["hours", "savings", "courses"])
y = (X.sum(axis=1) > 30).astype(int)
space = reap.ActionSpace.from_frame(X, increasing=list(X.columns))
model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
engine = reap.Recourse(model, space).fit(X)
refused = X[model.predict(X) == 0]

# %% [markdown]
# ## A population
# Everybody here finds saving hard and courses easy, each to their own degree, and one answer in ten is a slip. The engine is told
# none of it.


# %%
def person(i: int) -> reap.subjects.Mahalanobis:
    """Somebody of this population."""
    own = np.exp(np.random.default_rng(i).normal(0, 0.5, 3))
    return reap.subjects.Mahalanobis(np.diag(np.array([1.0, 10.0, 0.2]) * own), lapse=0.1, random_state=i)


def held(i: int, prior: reap.belief.LearnedPrior | None = None, questions: int = 3) -> reap.Elicitation:
    """A session with one of them."""
    preset = reap.Bayes(prior=prior)
    session = engine.elicit(
        refused.iloc[i % len(refused)], preset=preset, questions=questions, random_state=i
    )
    while question := session.ask():
        session.answer(person(i).answer(question))
    return session


past: list[reap.Elicitation] = []
while sum(session.answered > 0 for session in past) < 40:
    past.append(held(len(past)))

# %% [markdown]
# ## Learning
# `reap learn --database sqlite:///reap.db -o prior.json` does this for a service. The file holds numbers for columns, never a
# row or an answer. A gate refuses a prior that does not predict held-out people better than the default.

# %%
prior = reap.learn([session.to_json() for session in past], space)
print(describe(prior))

# %% [markdown]
# ## People never seen
# Excess of the recommended plan over the best one for the person's true effort, summed over twelve new people.

# %%
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, given in (("the default", None), ("learnt", prior)):
    excess = []
    for answers in (0, 1, 3):
        asked = best = 0.0
        for i in range(1000, 1012):
            true = person(i)
            x = refused.iloc[i % len(refused)]
            plan = held(i, given, answers).recommend()
            least = min(true.effort(engine.plans(x, true.matrix)[0].moves), true.effort(plan.moves))
            asked, best = asked + true.effort(plan.moves), best + least
        excess.append(asked / best - 1)
    print(f"{name}: " + ", ".join(f"{e:.0%} after {n}" for e, n in zip(excess, (0, 1, 3), strict=True)))
    axes.plot([0, 1, 3], excess, marker="o", label=name)
axes.set(xlabel="answers", ylabel="excess effort", ylim=(0, None))
axes.legend(frameon=False)

# %% [markdown]
# Twelve people show the direction, not the size; the structure here is strong and was put there. `reap reproduce population`
# measures it on real tables. A prior only weighs: nobody's plan becomes illegal by it.
# More: [learning from everyone](../learning.md).
