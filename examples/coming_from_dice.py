# needs: dice_ml
# %% [markdown]
# # Coming from DiCE
# The same model and the same person, first with DiCE, then with ReAP; then DiCE's own rows inside a session.

# %%
import logging
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")  # dice-ml warns about its own use of pandas
import dice_ml

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
refused = data.X[model.predict(data.X) == 0]
person = refused.iloc[[0]]

# %% [markdown]
# ## With DiCE
# `features_to_vary` says what may change, `permitted_range` within which bounds. A direction cannot be said: whether the
# loan goes up or down is left to chance.

# %%
numbers = list(data.X.select_dtypes("number").columns)
free = [feature.name for feature in data.space.features if data.space.feature(feature.name).is_action]
explainer = dice_ml.Dice(
    dice_ml.Data(dataframe=data.X.assign(paid=data.y), continuous_features=numbers, outcome_name="paid"),
    dice_ml.Model(model=model, backend="sklearn"),
    method="random",
)
start = time.process_time()
found = explainer.generate_counterfactuals(
    person, total_CFs=4, desired_class=1, features_to_vary=free, random_seed=0, verbose=False
)
seconds = time.process_time() - start
rows = found.cf_examples_list[0].final_cfs_df.drop(columns="paid")
now = person.iloc[0]
for _, row in rows.iterrows():
    print(", ".join(f"{name} → {row[name]}" for name in rows if str(row[name]) != str(now[name])))

# %% [markdown]
# ## With ReAP
# The space carries directions, steps, rules and time, so none of that is filtered afterwards. Without questions there is one
# plan for everybody alike.

# %%
engine = reap.Recourse(model, data.space).fit(data.X)
start = time.process_time()
plan = engine.plans(person, np.eye(data.space.dimension))[0]
print(
    f"{1000 * (time.process_time() - start):.0f} ms of processor time; DiCE's four rows took {1000 * seconds:.0f} ms"
)
plan

# %% [markdown]
# ## Which setting is which
#
# | DiCE | ReAP |
# |---|---|
# | `Data(dataframe=…, continuous_features=…)` | `ActionSpace.from_frame(X)`, or a draft to review: `reap space loans.csv` |
# | `Model(model=…, backend="sklearn")` | nothing: the model itself |
# | `features_to_vary=[…]` | `actionable`, or a person's own `limits(fixed=[…])` |
# | `permitted_range={…}` | `bounds`, and `direction`, `step`, `max_change`, `pace`, rules |
# | `proximity_weight`, `sparsity_weight` | the person's answers; `max_changes` |
# | `diversity_weight`, `total_CFs` | `session.plans(3)`: the best and clearly different ones |
# | `posthoc_sparsity_param` | nothing: every plan is irreducible |
# | an empty result, or an exception | `plan.status`, and the limit that would have to go |
#
# ## DiCE's rows in a session
# What DiCE generates can stay. `PoolRecourse` checks its rows against the space, scores them again, and lets the person choose
# among those that pass. `repair=True` moves a row that breaks a rule to the nearest that does not.


# %%
def generate(x: pd.DataFrame) -> pd.DataFrame:
    """Forty rows of DiCE for one person."""
    made = explainer.generate_counterfactuals(
        x, total_CFs=40, desired_class=1, features_to_vary=free, random_seed=1, verbose=False
    )
    return made.cf_examples_list[0].final_cfs_df.drop(columns="paid").astype(data.X.dtypes)


pool = reap.PoolRecourse(generate, model, data.space, repair=True).fit(data.X)
session = pool.elicit(person, questions=3)
while question := session.ask():
    session.answer("left")
session.recommend()
