# needs: anywidget
# %% [markdown]
# # A session in a notebook
# With buttons for a person who sits beside you, and without any for a script.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)
person = data.X[model.predict(data.X) == 0].iloc[2]

# %% [markdown]
# ## Without buttons
# A question shows itself as a table. Answer in the next cell, and run it again.

# %%
session = engine.elicit(person, questions=3)
session.ask()

# %%
session.answer("left")
session.constrain("amount", at_most=4000)  # a wish, at any time
session.ask()

# %% [markdown]
# Stop here, go on tomorrow: a session is its events, as JSON.

# %%
saved = session.to_json()
session = reap.Elicitation.from_json(saved, engine)
print(session.progress)

# %%
while session.ask():
    session.answer("left")
session.recommend()

# %% [markdown]
# ## With buttons
# `pip install "reap-recourse[notebook]"`, and one line. What is clicked goes into the session, so the cells around it see it. A
# page like this one cannot be clicked, so here is what the widget holds.

# %%
session = engine.elicit(person, questions=3)
widget = reap.notebook.buttons(session, screening=False)
[words for _, words, _ in widget.view["buttons"]]

# %% [markdown]
# A click does what a call does. In a notebook the person does it.

# %%
widget.act("A")
print(session.progress)

# %% [markdown]
# ## Several plans
# The best, and clearly different ones: people act on a choice rather than on an order.

# %%
for plan in session.plans(3):
    print(plan, end="\n\n")
