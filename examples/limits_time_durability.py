# %% [markdown]
# # Limits, time and durability
# What this person will not do, by when it must be done, and whether the yes still holds after the next retraining.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)
person = data.X[model.predict(data.X) == 0].iloc[0]
alike = np.eye(data.space.dimension)
print(engine.plans(person, alike)[0])

# %% [markdown]
# ## Limits
# They only tighten the space, and live with the person, not with the engine.

# %%
limits = data.space.limits(fixed=["duration"], at_least={"amount": 5000})
print(engine.plans(person, alike, limits)[0])

# %% [markdown]
# Where limits leave no plan, the session says which one would have to go.

# %%
session = engine.elicit(person)
for feature in (
    "duration",
    "amount",
    "status",
    "savings",
    "other_plans",
    "guarantor",
    "employment",
    "housing",
):
    session.constrain(feature, fixed=True)
plan = session.recommend()
print(plan.status)
print(plan.note)

# %% [markdown]
# ## Time
# Each action has a pace in the space, so a plan for this month is another one than a plan for two years.

# %%
for months in (1, 3, 24):
    limits = data.space.limits(fixed=["duration", "guarantor"], within_months=months)
    plan = engine.plans(person, alike, limits)[0]
    said = ", ".join(str(change) for change in plan.changes) or "nothing helps so soon"
    print(f"{months}-month limit: {plan.status}; {said}")

# %% [markdown]
# ## Durability
# At the very edge a plan is a promise that the next retraining breaks. `durability=0.9` asks that 18 of these 20 retrainings
# agree, and by so much that nine in ten of those to come can be expected to: see [durability](../durability.md).

# %%
durable = reap.Recourse(model, data.space, durability=reap.Durability(0.9, refits=20), random_state=0).fit(
    data.X, data.y
)
plan = durable.plans(person, alike)[0]
print(plan)

# %% [markdown]
# What it costs, for ten people: effort at the edge and durable, and how many fresh retrainings accept each plan.

# %%
rng = np.random.default_rng(1)
fresh = []
for _ in range(20):
    rows = rng.integers(len(data.X), size=len(data.X))
    fresh.append(
        make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(
            data.X.iloc[rows], data.y.iloc[rows]
        )
    )
people = data.X[model.predict(data.X) == 0].head(10)


def holds(found: list[reap.Plan]) -> float:
    """The share of fresh retrainings that accept the plans."""
    targets = data.X.iloc[[0] * len(found)].reset_index(drop=True)
    for i, each in enumerate(found):
        targets.loc[i] = each.target
    targets = targets.astype(data.X.dtypes)
    return float(np.mean([refit.predict(targets) for refit in fresh]))


edge = [engine.plans(x, alike)[0] for _, x in people.iterrows()]
held = [durable.plans(x, alike)[0] for _, x in people.iterrows()]
both = [(a, b) for a, b in zip(edge, held, strict=True) if a.valid and b.valid]
figure, axes = plt.subplots(figsize=(5, 3.4))
axes.scatter([a.effort for a, _ in both], [b.effort for _, b in both])
top = max(b.effort for _, b in both) * 1.1
axes.plot([0, top], [0, top], "--", color="grey")
axes.set(xlabel="effort at the edge", ylabel="effort, durable", xlim=(0, top), ylim=(0, top))
for name, found in (("at the edge", [a for a, _ in both]), ("durable", [b for _, b in both])):
    asked = sum(each.effort for each in found)
    print(f"{name}: {holds(found):.0%} of fresh retrainings accept, effort {asked:.2f} in sum")
