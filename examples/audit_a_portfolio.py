# %% [markdown]
# # Auditing a portfolio
# Who has a way back, how hard is it, and does that differ between groups?

# %%
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)

# %% [markdown]
# ## A plan for everybody
# `reap batch` does this for files of any size, in several processes or on a cluster, and resumes after a kill.

# %%
plans = reap.batch.run(engine, data.X.head(400))
plans["recourse_status"].value_counts()

# %% [markdown]
# ## The audit
# An effort of 100 % is that of becoming an accepted person drawn at random. Groups of fewer than 30 are not compared.

# %%
found = reap.audit(plans, by=["personal_status"])
print(found)

# %%
found["personal_status"].table

# %% [markdown]
# ## One picture
# The report (`found.to_html("audit.html")`) has more; here is the effort of each group that is large enough to be told about.

# %%
refused = plans[plans["recourse_status"] == "ok"]
groups = {
    str(name): rows["recourse_effort"]
    for name, rows in refused.groupby(data.X.loc[refused.index, "personal_status"])
    if len(rows) >= 30
}
figure, axes = plt.subplots(figsize=(6.5, 2.8), layout="constrained")
for row, effort in enumerate(groups.values()):
    low, middle, high = effort.quantile([0.25, 0.5, 0.75])
    axes.hlines(row, low, high, lw=8, alpha=0.4)
    axes.plot(middle, row, "o", color="black")
axes.set(xlabel="effort, alike for everybody (the middle half of each group, and its median)")
axes.set_yticks(range(len(groups)), list(groups))
axes.margins(y=0.3)

# %% [markdown]
# ## What it does not say
# That the decision itself treats groups alike; that a plan is possible for this very person; why groups differ.
# See [audits](../audit.md).
