# needs: mlflow
# %% [markdown]
# # An engine in MLflow
# Where models are logged, registered and served by MLflow, the recourse beside them can be as well:
# `pip install "reap-recourse[mlflow]"`.

# %%
import tempfile

import mlflow
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)

# %% [markdown]
# Log it to a run. The signature comes from the action space.

# %%
folder = tempfile.mkdtemp()
mlflow.set_tracking_uri(f"sqlite:///{folder}/tracking.db")
mlflow.set_experiment(experiment_id=mlflow.create_experiment("loans", artifact_location=folder))
with mlflow.start_run():
    logged = reap.mlflow.log_model(engine, "recourse")

# %% [markdown]
# Loaded as any MLflow model is, it takes refused people and gives each a plan.

# %%
refused = data.X[model.predict(data.X) == 0]
served = mlflow.pyfunc.load_model(logged.model_uri)
served.predict(refused.head(3)).filter(like="recourse_")

# %% [markdown]
# The engine itself comes back too, and holds sessions.

# %%
session = reap.mlflow.load_model(logged.model_uri).elicit(refused.iloc[0])
print(session.ask())
