# %% [markdown]
# # Any other generator
# A generator you have already becomes one that asks the person: any function from a row to rows will do.

# %%
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
person = data.X[model.predict(data.X) == 0].iloc[0]

# %% [markdown]
# ## The generator
# This one is deliberately simple: the 200 accepted people nearest to this person, as they are. Yours may be an optimiser, a
# diffusion model, another library ([DiCE](coming_from_dice.md)), or rows that a colleague wrote down.

# %%
accepted = data.X[model.predict(data.X) == 1]


def generate(x: pd.DataFrame) -> pd.DataFrame:
    """The accepted people nearest to this one."""
    apart = data.space.encode(accepted) - data.space.encode(x)
    return accepted.iloc[np.argsort((apart**2).sum(axis=1))[:200]]


# %% [markdown]
# ## What happens to its rows
# They are checked against the space, scored by the model again, and one that asks for all that another asks for leaves the
# pool. With `repair=True` a row that breaks the space moves to the nearest that does not: nobody is told to change their sex.

# %%
strict = reap.PoolRecourse(generate, model, data.space, repair=False).fit(data.X)
engine = reap.PoolRecourse(generate, model, data.space, repair=True).fit(data.X)
print(f"as generated, {len(strict.candidates(person))} of 200 rows are legal for this person")
print(f"repaired, {len(engine.candidates(person))} are, and accepted")

# %% [markdown]
# ## The session

# %%
session = engine.elicit(person, questions=3)
print(session.ask())
while session.ask():
    session.answer("right")
session.recommend()

# %% [markdown]
# ## Beside our own
# The same person, effort alike for everybody. Rows of other people differ in many features; a search of its own finds less.

# %%
alike = np.eye(data.space.dimension)
for name, each in (("their rows", engine), ("reap.Recourse", reap.Recourse(model, data.space).fit(data.X))):
    plan = each.plans(person, alike)[0]
    print(f"{name}: effort {plan.effort:.2f}, {len(plan.changes)} changes")
