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
axes.boxplot(list(groups.values()), orientation="horizontal", showfliers=False)
axes.set(xlabel="effort, alike for everybody", yticklabels=list(groups))

# %% [markdown]
# ## What it does not say
# That the decision itself treats groups alike; that a plan is possible for this very person; why groups differ.
# See [audits](../audit.md).
