# needs: lightgbm
# %% [markdown]
# # Your LightGBM in ten lines
# A trained pipeline on a raw frame, and a plan for somebody it refused. Nothing is wrapped, nothing is encoded by hand.

# %%
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap

data = reap.datasets.load("german")  # data.X is a plain DataFrame, data.y is 1 where a loan was repaid
texts = list(data.X.select_dtypes(exclude="number").columns)
columns = make_column_transformer(
    (OrdinalEncoder(), texts), remainder="passthrough", verbose_feature_names_out=False
).set_output(transform="pandas")
model = make_pipeline(columns, LGBMClassifier(n_estimators=100, verbose=-1, random_state=0)).fit(
    data.X, data.y
)

# %% [markdown]
# These are the lines that you add. The action space says what may change; here it ships with the data, for a table of
# your own it is [drafted](../space.md).

# %%
engine = reap.Recourse(model, data.space).fit(data.X)
refused = data.X[model.predict(data.X) == 0]
session = engine.elicit(refused.iloc[0])
question = session.ask()
print(question)

# %% [markdown]
# The person answers. Here it is always the first option; a notebook or
# [a page](../service.md) lets people click.

# %%
while session.ask():
    session.answer("left")
session.recommend()

# %% [markdown]
# ## What was done with the model
# The split thresholds of trees say which values the model can tell apart; all else is asked of the model itself. A plan is
# accepted by it exactly as shown, and nothing in it can be left out.

# %%
plan = session.recommend()
print(f"accepted: {bool(model.predict(plan.target.to_frame().T.astype(data.X.dtypes))[0])}")
