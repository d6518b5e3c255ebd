# %% [markdown]
# # What one change brings with it
# Savings follow the income. A plan that does not know it asks for both; one that does asks for less, and says what follows.

# %%
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

rng = np.random.default_rng(0)
rows = 800
job = rng.choice(["unskilled", "skilled"], rows, p=[0.6, 0.4])
income = (2000 + 500 * (job == "skilled") + rng.normal(0, 300, rows)).round(-1)
savings = (0.4 * income + rng.normal(0, 150, rows)).round(-1)
X = pd.DataFrame({"job": job, "income": income, "savings": savings})
accepted = X["income"] + 2 * X["savings"] > 4300

# %% [markdown]
# ## Fit the effects for a graph
# You say what moves what; the rows say by how much, and whether they contradict the graph.

# %%
fitted = reap.space.effects(X, [("job", "income"), ("income", "savings")])
print(fitted)

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    reap.space.effects(X, [("job", "savings"), ("savings", "income")])
print(said[0].message)

# %% [markdown]
# ## Plans with and without
# Effort is of what the person does; the model decides on where that leads.

# %%
words = {
    "income": {"label": "Income", "unit": "€", "step": 50.0},
    "savings": {"label": "Savings", "unit": "€", "step": 50.0},
}
knowing = {name: facts | fitted.features[name] for name, facts in words.items()}
person = X[~accepted].iloc[0]
for features in (words, knowing):
    space = reap.ActionSpace.from_frame(X, features=features)
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, accepted)
    engine = reap.Recourse(model, space, target=True).fit(X)
    plan = engine.plans(person, np.eye(space.dimension))[0]
    print(plan, f"Effort: {plan.effort:.4f}", "", sep="\n")

# %% [markdown]
# ## What a careful reader would ask
# `review` says every effect by an example.

# %%
for finding in space.review():
    if finding.about == "effect":
        print(finding)

# %% [markdown]
# ## A session asks about what people do
# What follows stands beside each option, and is nothing to weigh.

# %%
session = engine.elicit(person, questions=2)
question = session.ask()
while question is not None:
    print(question, "\n")
    session.answer(0)
    question = session.ask()
print(session.recommend())
