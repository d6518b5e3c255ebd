# %% [markdown]
# # The paper's claims in five minutes
# "Answers lead to cheaper recourse": a small run with simulated people, the paper's method beside ours, and where it fails.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)

# %% [markdown]
# ## People whose effort is known to us, not to the method
# Ten refused people. What each finds hard is drawn at random, feature by feature: the same change asks one person for ten times
# what it asks of another. They answer by their own effort and never err. What is measured is the *excess*: the effort of the
# recommended plan over that of the best plan for their true A, summed over people.

# %%
people = data.X[model.predict(data.X) == 0].sample(10, random_state=7)


def asked(preset: str, questions: int) -> pd.DataFrame:
    """Sessions with all people; effort of the plan and of the best one, after each answer."""
    rows = []
    draws = np.random.default_rng(7)
    for i, (_, x) in enumerate(people.iterrows()):
        hard = np.exp(draws.normal(0, 1.5, data.space.dimension))
        person = reap.subjects.Mahalanobis(np.diag(hard))
        best = engine.plans(x, person.matrix)[0]
        session = engine.elicit(x, questions=questions, preset=preset)
        for answers in range(questions + 1):
            plan = session.recommend()
            least = min(person.effort(best.moves), person.effort(plan.moves))
            rows.append({"person": i, "answers": answers, "effort": person.effort(plan.moves), "best": least})
            if (question := session.ask()) is not None:
                session.answer(person.answer(question))
    return pd.DataFrame(rows)


# %%
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, preset in (
    ("ours: a posterior, expected effort", "bayes"),
    ("the paper: worst case of a confidence set", "reap"),
):
    runs = asked(preset, 5)
    sums = runs.groupby("answers")[["effort", "best"]].sum()
    excess = sums["effort"] / sums["best"] - 1
    axes.plot(excess.index, excess, marker="o", label=name)
    print(f"{name}: excess {excess[0]:.0%} with no answer, {excess[5]:.0%} after five")
axes.set(xlabel="answers", ylabel="excess effort", ylim=(0, None))
axes.legend(frameon=False)

# %% [markdown]
# Ten people are few, and the figures move with another seed: read the run, not a law. Where one plan is best for nearly
# everybody, answers have little to save. With the worst case over a confidence set they hardly help anywhere: after few answers
# the worst case of nearly every change is as if nothing had been said ([why](../method.md#the-confidence-set)).
#
# In full, with intervals, on eight data sets: `reap reproduce quality`, and [results](../results/README.md).
