# needs: mcp
# %% [markdown]
# # A chat assistant holds the session
# `reap mcp --data german` is a server of the Model Context Protocol: put that command into your assistant's settings. The
# assistant asks in its own words; options, answers and the plan come from ReAP. Here a client plays the assistant.

# %%
import asyncio

from mcp import Client
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.doors.assistant import server

data = reap.datasets.load("german")
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
engine = reap.Recourse(model, data.space).fit(data.X)
refused = data.X[model.predict(data.X) == 0]


# %% [markdown]
# Five verbs are all there is: start, question, answer, plan, undo.


# %%
async def conversation() -> None:
    """Say what an assistant would say, for a person who finds B easier each time."""
    async with Client(server(engine, refused.reset_index(drop=True))) as assistant:
        start = await assistant.call_tool("start", {"row": 0})
        print(start.structured_content["says"])
        asked = (await assistant.call_tool("question", {})).structured_content
        while not asked["ended"]:
            print(asked["asks"])
            for option in asked["options"]:
                print(f"  {option['letter']}: {'; '.join(option['changes'])}")
            asked = (await assistant.call_tool("answer", {"choice": "B"})).structured_content
        print(asked["ended"])
        print((await assistant.call_tool("plan", {})).structured_content["says"])


asyncio.run(conversation())
