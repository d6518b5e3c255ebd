"""The shapes of what comes in and what goes out, for the API and for the pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

#: A value of one feature: a number, a level, or null where it is not known.
Value = StrictBool | StrictInt | StrictFloat | StrictStr | None
Row = dict[str, Value]
#: Pairs of numbers, described as arrays of two: the draft of JSON Schema that most tools read has no tuples.
Ends = Annotated[
    tuple[float, float],
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
]
Range = Annotated[
    tuple[float | None, float | None],
    WithJsonSchema({"type": "array", "items": {"type": ["number", "null"]}, "minItems": 2, "maxItems": 2}),
]
#: The score to exceed, or a range to reach, in which an end may be open.
Threshold = float | Range


class Named(BaseModel):
    """A feature and its label."""

    feature: str
    label: str


# a session ----------------------------------------------------------------------------------------------


class Cell(BaseModel):
    """What one option asks of one feature: a phrase with a verb, the value, and the way from now on a scale of 0 to 100."""

    text: str
    value: str
    changes: bool
    mark: Literal["up", "down", "other", "same"]
    bar: Ends | None


class Compared(BaseModel):
    """One row of a question: a feature, its value now, and what each option asks of it."""

    label: str
    now: str
    cells: list[Cell]


class Option(BaseModel):
    """One plan of a question; stages are those of a path through other people's rows."""

    name: str
    title: str
    changes: list[str]
    stages: list[str]
    score: float
    said: str


class Asked(BaseModel):
    """A question. ``kind``: whether its options are whole plans, or single steps."""

    id: str
    number: int
    kind: Literal["plans", "steps"]
    asks: str
    why: str
    also: str
    options: list[Option]
    rows: list[Compared]
    promise: str
    same_target: bool
    could_be_impossible: list[Named]


class EarlierAnswer(BaseModel):
    """An answer given earlier; ``dropped`` says what "neither" took off the table."""

    position: int
    question: str
    choice: int | str
    words: str
    impossible: list[str]
    dropped: str
    options: list[str]


class Wish(BaseModel):
    """Something the person wished for."""

    feature: str
    text: str
    limit: bool


class Screening(BaseModel):
    """What the person could change at all, as asked before the first question; null where it was not asked yet."""

    answered: bool
    offered: list[Named]
    changeable: list[str] | None
    difficulty: dict[str, int]


class RefusalReason(BaseModel):
    """A principal reason of a refusal, compared with people who are accepted."""

    feature: str
    label: str
    text: str


class SessionProgress(BaseModel):
    """How far the session is; ``ended`` says why nothing is asked, or nothing more, and is empty while there is a question."""

    answered: int
    least: int
    most: int
    screen: int
    screens: int
    text: str
    ended: str


class State(BaseModel):
    """A session as it stands; send its revision with the next answer.

    ``expires``: when its link stops working. ``held_until``: the day until which it must be kept, and cannot be deleted.
    """

    revision: int
    status: Literal["asking", "finished", "accepted", "no_plan"]
    question: Asked | None
    progress: SessionProgress
    answers: list[EarlierAnswer]
    wishes: list[Wish]
    screening: Screening
    subject: Row
    score: float
    said: str
    needed: str
    threshold: Threshold
    accepted: bool
    can_undo: bool
    expires: str
    held_until: str | None = None


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


class Score(BaseModel):
    """The model's score of a row that nobody has to be in, as a number and as it is said, and what is needed."""

    score: float
    said: str
    needed: str
    threshold: Threshold
    accepted: bool
    allowed: bool
    text: str
    hypothetical: Literal[True] = True


# a plan -------------------------------------------------------------------------------------------------


class Action(BaseModel):
    """One action of a plan: a feature's whole change, its place in the order of dates, and the score once it is done.

    ``month`` counts from the start and ``when`` says it in words. ``brings`` is what the score gains by it; where several
    actions help only together, the last of them says it for all, and the others have no score. A path has none at all.
    """

    feature: str
    label: str
    text: str
    before: str
    after: str
    signed: str
    step: int | None = None
    score: float | None = None
    said: str = ""
    month: int | None = None
    when: str = ""
    brings: str = ""
    bar: Ends | None = None


class Stage(BaseModel):
    """One stage of a path through other people's rows."""

    number: int
    changes: list[str]
    score: float
    said: str


class PlanOut(BaseModel):
    """A plan to choose from; ``id`` names it when it is chosen.

    ``stands`` says how the plan stands, in one line. ``enough`` says which of its steps would do today. ``may_not_hold``: it
    asks for less, and today's model alone accepts it. ``cautions`` are what is to be said against it.
    """

    id: str
    status: str
    valid: bool
    headline: str
    stands: str
    enough: list[str]
    note: str
    score: float
    said: str
    months: int | None
    changes: list[Action]
    follows: list[str]
    money: str
    cautions: list[str]
    may_not_hold: bool
    stages: list[Stage]
    target: Row


class Hard(BaseModel):
    """How hard a change is for the person: 1 very easy to 5 very hard, 3 is their average."""

    feature: str
    label: str
    level: int
    words: str


class Advice(PlanOut):
    """The plan that suits the person best, as far as is known, the others to choose from, and what was learnt.

    ``fit`` says how well we know what suits the person. ``refused``: they have turned the
    plan down before, and no other is left.
    """

    revision: int
    score_now: float
    said_now: str
    needed: str
    threshold: Threshold
    fit: str
    price: str
    difficulties: list[Hard]
    conflicts: list[list[int]]
    relax: list[Named]
    others: list[PlanOut]
    refused: bool = False


class Chosen(BaseModel):
    """The plan that the person chose: when, what it asks, and until when the operator honours it, where that was promised."""

    id: str
    at: str
    headline: str
    changes: list[str]
    honoured_until: str | None
    model: str


class Notice(BaseModel):
    """The decision in writing, and the language it is in; each part has a kind and its lines."""

    language: str
    parts: list[dict[str, str | list[str]]]


# what is decided ----------------------------------------------------------------------------------------


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
    output: str
    unit: str
    threshold: Threshold
    model: str
    data: str
    version: str


# refusals -----------------------------------------------------------------------------------------------


class FieldFault(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class Fault(BaseModel):
    """Why a request was refused, in one sentence; for bad input also by field.

    `stored` is null where what it asked for may be stored all the same: the same request with the same key counts once.
    """

    error: str
    fields: list[FieldFault] = []
    state: State | None = None
    stored: bool | None = False


#: What a route may answer instead of what was asked for.
FAULTS: dict[int | str, dict[str, Any]] = {
    code: {"model": Fault, "description": text}
    for code, text in {
        400: "The body cannot be read.",
        413: "The body is too large.",
        422: "Bad input: the field and what is allowed.",
        429: "Too many requests.",
        503: "Not now: the database cannot be reached, or it took too long; `stored` says what became of the request.",
    }.items()
}
OF_SESSION: dict[int | str, dict[str, Any]] = {
    **FAULTS,
    404: {"model": Fault, "description": "No such session: unknown, expired, deleted or somebody else's."},
    409: {"model": Fault, "description": "The session has moved on; its state is in the answer."},
}


# what comes in ------------------------------------------------------------------------------------------

#: What a client may call a request; longer names or other characters do not fit every database.
KEY = r"^[A-Za-z0-9_-]{1,64}$"
Key = Annotated[str, Field(pattern=KEY, examples=["3f9c2d"])]
Revision = Annotated[int, Field(ge=0, le=10**6, description="Of the state in which it was seen.")]
FeatureName = Annotated[str, Field(max_length=200)]
Choice = Annotated[
    Annotated[int, Field(ge=0, le=3)] | Annotated[str, Field(max_length=10)],
    Field(description='An option\'s index or letter, "left", "right", "same", "neither" or "skip".'),
]
Hardness = Annotated[int, Field(ge=1, le=5, description="1 very easy to 5 very hard.")]


class _In(BaseModel):
    """Where there is a key, the same key again is the same request, however often it is sent."""

    model_config = ConfigDict(extra="forbid")


class Start(_In):
    """The subject's row, one value a feature; `GET /api/v1/schema` lists them."""

    subject: Row
    questions: int | None = Field(None, ge=1, le=30, description="Answers asked for at most.")
    options: int | None = Field(None, ge=2, le=4, description="Plans in a question.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Fixes everything random.")
    given: list[FeatureName] = Field(
        [],
        max_length=500,
        description="Features that you know and the person cannot change by hand: shown, never asked.",
    )


class Revised(_In):
    """Another answer to an earlier question."""

    revision: Revision
    choice: Choice
    impossible: list[FeatureName] = Field(
        [], max_length=100, description='With "neither": features that cannot change.'
    )
    key: Key


class AnswerRequest(Revised):
    """An answer to the question shown."""

    question: str = Field(max_length=40, description="The question's id.")


class ScreeningRequest(_In):
    """What the person could change at all, out of `screening.offered`, and how hard each is; null where they skip it."""

    changeable: list[FeatureName] | None = Field(max_length=500)
    difficulty: dict[FeatureName, Hardness] = {}
    revision: Revision | None = None
    key: Key | None = None


class ChoiceRequest(_In):
    """The plan that the person chooses: the id of the plan, or of one of its `others`."""

    plan: str = Field(max_length=40)
    key: Key | None = None


class Done(_In):
    """What the person has done of the plan they chose, by feature."""

    done: list[FeatureName] = Field(min_length=1, max_length=100)
    key: Key | None = None


class ReviewRequest(_In):
    """A request that a person looks at the decision, in the person's own words."""

    words: str = Field(min_length=1, max_length=2000)
    key: Key | None = None


class Reply(_In):
    """The operator's answer to such a request."""

    decision: Literal["stands", "changed", "more"]
    words: str = Field("", max_length=2000)


class Constraint(_In):
    """A wish about one feature: keep it, bound it, exclude levels, say how hard changing it is."""

    feature: FeatureName
    fixed: bool = False
    at_least: Value = None
    at_most: Value = None
    exclude: list[Value] = Field([], max_length=100)
    difficulty: Hardness | None = None
    revision: Revision | None = None
    key: Key | None = None


class WhatIf(_In):
    """A row to score."""

    subject: Row


class Situation(WhatIf):
    """Where the person is now, one value a feature."""

    revision: Revision | None = None
    key: Key | None = None
