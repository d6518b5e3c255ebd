"""A chat assistant's door, through the real client of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import sys

import pytest

mcp = pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]


def talk(door, conversation):
    """Hold a conversation with a server, and return what it came to."""

    async def held():
        async with Client(door) as client:
            return await conversation(client)

    return asyncio.run(held())


@pytest.fixture
def door(german_engine, german):
    from reap.doors.assistant import server

    return server(german_engine, german.X)


def test_a_session_told_in_words_ends_in_the_plan_of_the_session(door, german_engine, german, refused):
    async def conversation(client):
        started = (await client.call_tool("start", {"row": int(refused)})).structured_content
        asked, said = (await client.call_tool("question", {})).structured_content, []
        while not asked["ended"]:
            said.append([option["title"] for option in asked["options"]])
            asked = (await client.call_tool("answer", {"choice": "A"})).structured_content
        plan = (await client.call_tool("plan", {})).structured_content
        return started, said, asked, plan

    started, said, ended, plan = talk(door, conversation)
    session = german_engine.elicit(german.X.loc[[refused]])
    session.recommend()
    ours = []
    while question := session.ask():
        ours.append(list(question.titles))
        session.answer(0)
    assert started["refused"]
    assert said == ours
    assert ended["ended"] == session.ended
    assert plan["says"] == str(session.recommend())
    assert plan["yes_today"]


def test_the_five_verbs_say_what_must_not_be_done(door):
    async def conversation(client):
        return client.instructions, (await client.list_tools()).tools

    instructions, tools = talk(door, conversation)
    assert [tool.name for tool in tools] == ["start", "question", "answer", "plan", "undo"]
    for rule in ("Never invent", "Never answer for the person", "Never say that anybody will lend"):
        assert rule in instructions
    start, _, answer, *_ = tools
    assert "duration" in start.description
    choices = answer.input_schema["properties"]["choice"]["enum"]
    assert choices == ["A", "B", "C", "D", "same", "neither", "skip"]


def test_what_is_refused_is_a_sentence_and_loses_nothing(door, refused):
    async def conversation(client):
        early = await client.call_tool("plan", {})
        nobody = await client.call_tool("start", {"situation": {"duration": 12}})
        await client.call_tool("start", {"row": int(refused)})
        before = (await client.call_tool("question", {})).structured_content
        invented = await client.call_tool("answer", {"choice": "D"})
        after = (await client.call_tool("question", {})).structured_content
        return early, nobody, before, invented, after

    early, nobody, before, invented, after = talk(door, conversation)
    assert early.is_error
    assert "call start first" in early.content[0].text
    assert nobody.is_error
    assert "lacks Checking account (status), Loan amount (amount)" in nobody.content[0].text
    assert invented.is_error
    assert before == after


def test_undo_brings_the_question_back(door, refused):
    async def conversation(client):
        await client.call_tool("start", {"row": int(refused)})
        first = (await client.call_tool("question", {})).structured_content
        await client.call_tool("answer", {"choice": "B"})
        return first, (await client.call_tool("undo", {})).structured_content

    first, again = talk(door, conversation)
    assert first == again


def test_the_command_speaks_the_protocol_over_standard_output():
    command = StdioServerParameters(command=sys.executable, args=["-m", "reap", "mcp", "--data", "german"])

    async def conversation(client):
        return (await client.call_tool("start", {"row": 0})).structured_content

    started = talk(stdio_client(command), conversation)
    assert set(started) == {"refused", "says", "could_change"}
