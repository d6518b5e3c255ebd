"""The shapes of what goes in and out, for the API and for the pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

#: A value of one feature: a number, a level, or null where it is not known.
Value = StrictBool | StrictInt | StrictFloat | StrictStr | None
Row = dict[str, Value]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["3f9c2d"])]
Revision = Annotated[int, Field(ge=0, le=10**6)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Start(_In):
    """The subject's row, one value a feature; `GET /api/v1/schema` lists them."""

    subject: Row
    questions: int | None = Field(None, ge=1, le=30, description="Answers asked for at most.")
    options: int | None = Field(None, ge=2, le=4, description="Plans in a question.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Fixes everything random.")


class Answer(_In):
    """An answer to the question shown. The same key again is the same answer, however often it is sent."""

    question: str = Field(max_length=40, description="The question's id.")
    revision: Revision = Field(description="The revision of the state in which it was seen.")
    choice: Annotated[int, Field(ge=0, le=3)] | Annotated[str, Field(max_length=10)] = Field(
        description='An option\'s index or letter, "left", "right", "same", "neither" or "skip".'
    )
    impossible: list[Annotated[str, Field(max_length=200)]] = Field(
        [], max_length=100, description='With "neither": features that cannot change.'
    )
    key: Key


class Revised(_In):
    """Another answer to an earlier question."""

    revision: Revision
    choice: Annotated[int, Field(ge=0, le=3)] | Annotated[str, Field(max_length=10)]
    impossible: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=100)
    key: Key


class Constraint(_In):
    """A wish about one feature: keep it, bound it, exclude levels, say how hard changing it is."""

    feature: str = Field(max_length=200)
    fixed: bool = False
    at_least: Value = None
    at_most: Value = None
    exclude: list[Value] = Field([], max_length=100)
    difficulty: int | None = Field(None, ge=1, le=5, description="1 very easy to 5 very hard.")
    revision: Revision | None = None
    key: Key | None = None


class Situation(_In):
    """Where the person is now, one value a feature."""

    subject: Row
    revision: Revision | None = None
    key: Key | None = None


class WhatIf(_In):
    """A row to score; `origin`, where given, tells whether the person could get there from it."""

    subject: Row
    origin: Row | None = None


class Score(BaseModel):
    """The model's score of a row that nobody has to be in."""

    score: float
    threshold: float
    accepted: bool
    allowed: bool | None = None
    hypothetical: Literal[True] = True


class Different(BaseModel):
    """A feature in which the options differ."""

    label: str
    now: str
    values: list[str]
    signed: list[str]


class Option(BaseModel):
    """One plan of a question."""

    name: str
    changes: list[str]
    steps: list[str]
    score: float


class Named(BaseModel):
    """A feature and its label."""

    feature: str
    label: str


class Asked(BaseModel):
    """The question to answer now."""

    id: str
    number: int
    why: str
    options: list[Option]
    differences: list[Different]
    shared: list[str]
    same_target: bool
    could_be_impossible: list[Named]


class Given(BaseModel):
    """An answer given earlier."""

    position: int
    question: str
    choice: int | str
    words: str
    impossible: list[str]
    options: list[str]


class Wish(BaseModel):
    """Something the person wished for."""

    feature: str
    text: str
    limit: bool


class Progress(BaseModel):
    """How far the dialogue is."""

    answered: int
    least: int
    most: int
    text: str


class State(BaseModel):
    """A session as it stands; send its revision with the next answer."""

    revision: int
    status: Literal["asking", "finished", "accepted", "no_plan"]
    question: Asked | None
    progress: Progress
    answers: list[Given]
    wishes: list[Wish]
    subject: Row
    score: float
    threshold: float
    accepted: bool
    can_undo: bool
    expires: str


class Started(BaseModel):
    """A new session. The token opens it and is stored nowhere: keep the link."""

    token: str
    link: str
    state: State


class Stored(BaseModel):
    """An answer as it was stored, and the state now."""

    revision: int
    question: str
    choice: int | str
    impossible: list[str]
    at: str
    state: State


class ChangeOut(BaseModel):
    """One feature's change."""

    feature: str
    label: str
    text: str
    before: str
    after: str
    signed: str


class StepOut(BaseModel):
    """One step of a plan."""

    number: int
    changes: list[ChangeOut]
    score: float


class Effort(BaseModel):
    """The plan's effort to this person, as learnt, against the plan that treats everybody alike."""

    plan: float
    everybody: float
    share: float
    text: str


class Sure(BaseModel):
    """How sure we are that no other plan suits the person better."""

    within: float
    excess: float
    text: str


class Hard(BaseModel):
    """How hard a change is for the person; 1 is their average."""

    feature: str
    label: str
    level: float
    words: str


class Pair(BaseModel):
    """Two changes that help or hinder each other."""

    first: str
    second: str
    strength: float
    words: str


class PlanOut(BaseModel):
    """The plan that suits the person best, as far as is known."""

    revision: int
    status: str
    valid: bool
    headline: str
    note: str
    score_now: float
    score: float
    threshold: float
    steps: list[StepOut]
    changes: list[ChangeOut]
    target: Row
    effort: Effort | None
    confidence: Sure | None
    difficulties: list[Hard]
    pairs: list[Pair]
    conflicts: list[list[int]]
    relax: list[Named]


class FeatureOut(BaseModel):
    """One field of a row."""

    name: str
    label: str
    kind: str
    unit: str
    levels: list[Value]
    least: float | None
    most: float | None
    step: float | None
    may_change: bool
    required: bool
    describe: str


class Schema(BaseModel):
    """What a row needs, and which model decides."""

    title: str
    features: list[FeatureOut]
    threshold: float
    model: str
    data: str
    version: str


class FieldFault(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class Fault(BaseModel):
    """Why a request was refused, in one sentence; for bad input also by field."""

    error: str
    fields: list[FieldFault] = []
    state: State | None = None


class Summary(BaseModel):
    """What an operator sees."""

    sessions: int
    finished: int
    days: list[tuple[str, int]]
    questions_to_finish: float | None
    latency_ms: dict[str, float]
    model: str
    data: str
    version: str
    title: str


class Health(BaseModel):
    """Whether the service runs."""

    status: str
