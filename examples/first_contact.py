# %% [markdown]
# # First contact
# From a CSV that nobody prepared to a reviewed space, a session and a plan for everybody who was refused. With a file of your
# own: `python examples/first_contact.py loans.csv outcome repaid` (the file, the column with the label, its good value).

# %%
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap


def unprepared(rows: int = 2000) -> tuple[str, str, str]:
    """Write loans of small firms as they come out of a database: a long tail, many zeros, texts, empty cells."""
    rng = np.random.default_rng(0)
    amount = np.round(np.exp(rng.normal(10.5, 1.2, rows)), -2)
    months = rng.choice([12, 24, 36, 60, 84, 120], rows)
    turnover = np.round(amount * np.exp(rng.normal(0.5, 1, rows)), -3)
    deposit = np.where(rng.random(rows) < 0.6, 0, np.round(amount * rng.random(rows) / 2, -2))
    staff = np.floor(np.exp(rng.exponential(1.2, rows)))
    area = rng.choice(["urban", "rural", "unknown"], rows, p=[0.6, 0.3, 0.1])
    good = 2 * np.log(turnover / amount + 0.1) + 6 * deposit / amount + months / 60 + rng.normal(0, 1, rows)
    table = pd.DataFrame(
        {
            "loan_id": 100_000 + np.arange(rows),
            "amount": amount.astype(int),
            "duration_months": months,
            "turnover": np.where(rng.random(rows) < 0.1, np.nan, turnover),
            "deposit": deposit,
            "staff": staff.astype(int),
            "area": area,
            "outcome": np.where(good > 2.5, "repaid", "written off"),
        }
    )
    path = Path(tempfile.mkdtemp()) / "loans.csv"
    table.to_csv(path, index=False)
    return str(path), "outcome", "repaid"


given = sys.argv[1:4]
file, label, good = given if len(given) == 3 and given[0].endswith(".csv") else unprepared()

# %% [markdown]
# ## The draft
# Names of rows and dates are left out; every guess is marked. `draft.to_toml()` is the file to edit, the same as
# `reap space loans.csv --label outcome` writes.

# %%
table = pd.read_csv(file)
draft = reap.space.draft(table, label=label)
for column, why in draft.left_out.items():
    print(f"left out: {column}, {why}")
for feature, guesses in draft.checks.items():
    print(f"{feature}: {'; '.join(guesses)}")

# %% [markdown]
# ## What we answer
# Somebody who knows the product says which way things go and how long they take. Here that is done in code; usually in the file.
# A table of your own goes on with the draft.

# %%
answers: dict[str, dict[str, Any]] = {
    "amount": {"direction": "down", "when": "application"},
    "duration_months": {"direction": "both", "when": "application"},
    "turnover": {"direction": "up", "pace": "5000 a month"},
    "deposit": {"when": "application"},
    "staff": {"actionable": False},
    "area": {"actionable": False},
}
space = reap.ActionSpace([replace(f, **answers.get(f.name, {})) for f in draft.space.features], horizon=24)

# %% [markdown]
# ## The model, and the review
# The model is one pipeline on raw rows. What the review still says is about the model: boosted trees jump.

# %%
X, y = table[list(space.names)], (table[label].astype(str) == good).astype(int)
texts = list(X.select_dtypes(exclude="number"))
columns = make_column_transformer((OrdinalEncoder(), texts), remainder="passthrough")
model = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=60, random_state=0)).fit(X, y)
for finding in space.review(model, X):
    print(finding)

# %% [markdown]
# ## A session
# `fit` warns where a column gives the label away, where the model is turned around, and where it sees other values than it was
# trained on; see [the mistakes newcomers make](../mistakes.md). We take the first person who has a choice.

# %%
engine = reap.Recourse(model, space).fit(X, y)
refused = X[model.predict(X) == 0]
sessions = (engine.elicit(refused.iloc[i]) for i in range(len(refused)))
session = next(session for session in sessions if session.ask())
while question := session.ask():
    print(question, "\n")
    session.answer("left")
print(session.recommend())

# %% [markdown]
# ## A batch
# One plan for everybody, alike for all; `reap batch` does it for files of any size.

# %%
plans = reap.batch.run(engine, refused.head(100), n_jobs=1)
print(plans.groupby("recourse_status")["recourse_changes"].describe()[["count", "mean", "max"]])
