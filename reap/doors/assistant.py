"""A chat assistant holds the session in the person's words, and ReAP keeps the truth: a server of the Model Context Protocol.

``reap mcp`` starts it over standard input and output, which is how assistants on a person's machine run tools. Five verbs are
all there is: start, question, answer, plan, undo. The assistant may choose the words in which it asks; options, answers and
plans come from here alone, and what it must not do is said in the instructions and in each tool's schema.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import pandas as pd
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.elicitation import Elicitation, Question
from reap.plan import Plan
from reap.recourse import Engine

INSTRUCTIONS = """\
You help one person whom a computer refused to find out what they could change. ReAP asks comparisons and makes the plan.
Call start once, then question; say both options to the person; pass on their answer; go on until question says that it ended;
then call plan and say it.
- Never invent, leave out, merge or improve an option, a number, a date or a step. You may choose plainer words for them.
- Never answer for the person, and never suggest which option is better: what is easier for them is what is being learnt.
- Call answer only with what the person said. If they are unsure, "same" or "skip" is right.
- Never say that anybody will lend, hire or treat them. A plan says what the computer would answer today, and no more.
- Never ask for names, addresses or account numbers; nothing here needs them.
- If a tool refuses, say its sentence to the person and ask again."""

T = TypeVar("T")


class Beginning(BaseModel):
    """Whether the computer refuses this person, and what could change at all."""

    refused: bool
    says: str
    could_change: list[str]


class OptionSaid(BaseModel):
    """One of the options of a question: what changes, from what to what."""

    letter: str
    title: str
    changes: list[str]


class QuestionSaid(BaseModel):
    """A question to say to the person; or, where ``ended`` says why, nothing more to ask."""

    asks: str = ""
    options: list[OptionSaid] = []
    both_include: str = ""
    promise: str = ""
    answered: int
    at_most_to_go: int
    ended: str = ""


class PlanSaid(BaseModel):
    """The plan, in words that may be said as they are, with its steps."""

    says: str
    steps: list[str]
    months: int
    yes_today: bool


def server(engine: Engine, rows: Frame | None = None, *, questions: int = 5) -> MCPServer[Any]:
    """Return a server for one conversation with one person.

    Parameters
    ----------
    engine : Engine
        Fitted.
    rows : DataFrame, optional
        People who may be named by their row number instead of being described.
    questions : int
        Answers to ask for at most.
    """
    made: MCPServer[Any] = MCPServer(
        "reap", title="ReAP", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    talk = _Conversation(engine, rows, questions)
    for verb in (talk.start, talk.question, talk.answer, talk.plan, talk.undo):
        made.tool(name=verb.__name__, description=_described(verb, engine), structured_output=True)(verb)
    return made


class _Conversation:
    """The state of the conversation is its session; each verb is one act on it."""

    def __init__(self, engine: Engine, rows: Frame | None, questions: int) -> None:
        self.engine, self.rows, self.questions = engine, rows, questions
        self._session: Elicitation | None = None
        self._lock = threading.Lock()

    def start(
        self,
        situation: Annotated[
            dict[str, str | float | bool | None] | None,
            Field(description="The person's own values, by the names of the fields; only what they said."),
        ] = None,
        row: Annotated[
            int | None, Field(ge=0, description="Or the number of their row in the table.")
        ] = None,
    ) -> Beginning:
        """Begin with a person: their situation, or the row they have in the table. A new start forgets the last."""

        def begun() -> Beginning:
            self._session = self.engine.elicit(self._subject(situation, row), questions=self.questions)
            plan = self._session.recommend()
            refused = plan.status != "already_accepted"
            space = self._session.space
            labels = [space.feature(name).label for name in self._session.changeable] if refused else []
            told = f"The computer refuses: the score is {plan.scale.say(float(plan.scores[0]))}."
            return Beginning(refused=refused, says=told if refused else str(plan), could_change=labels)

        return self._done(begun)

    def question(self) -> QuestionSaid:
        """Return the question to say to the person now, or why nothing more is asked."""
        return self._done(lambda: _asked(self.session))

    def answer(
        self,
        choice: Annotated[
            Literal["A", "B", "C", "D", "same", "neither", "skip"],
            Field(
                description="What the person said: the letter of the EASIER option, about the same, neither is possible, or skip."
            ),
        ],
        impossible: Annotated[
            list[str],
            Field(description='With "neither": what they cannot change, by the names in could_change.'),
        ] = [],  # noqa: B006 (a schema's default; never written to)
    ) -> QuestionSaid:
        """Pass on what the person said, never what you think; returns the next question."""

        def given() -> QuestionSaid:
            session = self.session
            if session.ask() is None:
                raise InputError("there is no question to answer; call plan")
            names = {session.space.feature(name).label.lower(): name for name in session.changeable}
            session.answer(choice, impossible=[names.get(what.lower(), what) for what in impossible])
            return _asked(session)

        return self._done(given)

    def plan(self) -> PlanSaid:
        """Return the plan that suits the person best as far as is known: what to say, without adding or promising anything."""
        return self._done(lambda: _planned(self.session.recommend()))

    def undo(self) -> QuestionSaid:
        """Take back the last answer; returns the question as it stood."""

        def undone() -> QuestionSaid:
            self.session.undo()
            return _asked(self.session)

        return self._done(undone)

    @property
    def session(self) -> Elicitation:
        if self._session is None:
            raise InputError("nobody has been described yet; call start first")
        return self._session

    def _subject(self, situation: dict[str, Any] | None, row: int | None) -> Frame:
        if (situation is None) == (row is None):
            raise InputError("give the person's situation, or the number of their row: one of the two")
        if situation is not None:
            asked = [f for f in self.engine.space.features if f.derived is None and f.name not in situation]
            if asked:
                lacking = ", ".join(f"{f.label} ({f.name})" for f in asked)
                raise InputError(f"the situation lacks {lacking}; ask the person for it")
            return pd.DataFrame([situation], dtype=object).infer_objects()
        if self.rows is None or row is None or row >= len(self.rows):
            raise InputError(f"there is no row {row}; describe the situation instead")
        return self.rows.iloc[[row]]

    def _done(self, act: Callable[[], T]) -> T:
        """Do one thing at a time; what is refused is a sentence for the person."""
        with self._lock:
            try:
                return act()
            except InputError as refused:
                raise ToolError(str(refused)) from None


def _asked(session: Elicitation) -> QuestionSaid:
    question, done = session.ask(), session.progress
    if question is None:
        return QuestionSaid(answered=done.answered, at_most_to_go=0, ended=session.ended or "")
    return QuestionSaid(
        asks=question.asks,
        options=_options(question),
        both_include=question.also,
        promise=question.promise,
        answered=done.answered,
        at_most_to_go=done.most,
    )


def _options(question: Question) -> list[OptionSaid]:
    """Return the options by what sets them apart: a line for each row of the question."""
    return [
        OptionSaid(
            letter=letter,
            title=title,
            changes=[_said(row.label, row.now, row.values[i]) for row in question.differences],
        )
        for i, (letter, title) in enumerate(zip(question.names, question.titles, strict=True))
    ]


def _said(label: str, now: str, then: str) -> str:
    """Return one row of an option in words; the time has no "now"."""
    if now == then:
        return f"{label}: stays {now}"
    return f"{label}: now {now}, then {then}" if now else f"{label}: {then}"


def _planned(plan: Plan) -> PlanSaid:
    steps = [str(step) for step in plan.steps]
    return PlanSaid(says=str(plan), steps=steps, months=plan.months, yes_today=plan.valid)


def _described(verb: Callable[..., Any], engine: Engine) -> str:
    """Return what a tool is for; that of start names the fields of a situation."""
    said = (verb.__doc__ or "").strip()
    if verb.__name__ != "start":
        return said
    fields = []
    for feature in engine.space.features:
        if feature.derived is not None:
            continue
        kinds = "a number" if feature.is_number else "one of " + ", ".join(map(str, feature.levels))
        unit = f" in {feature.unit}" if feature.unit else ""
        fields.append(f"- {feature.name} ({feature.label}): {kinds}{unit}")
    return f"{said}\nFields of a situation:\n" + "\n".join(fields)
