"""The shapes of what goes out, for the API and for the pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, StrictBool, StrictFloat, StrictInt, StrictStr, WithJsonSchema

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


class Different(BaseModel):
    """A feature in which the options differ."""

    label: str
    now: str
    values: list[str]
    signed: list[str]


class Option(BaseModel):
    """One plan of a question; stages are those of a path through other people's rows."""

    name: str
    title: str
    changes: list[str]
    stages: list[str]
    score: float
    said: str


class Named(BaseModel):
    """A feature and its label."""

    feature: str
    label: str


class Asked(BaseModel):
    """The question to answer now."""

    id: str
    number: int
    asks: str
    why: str
    also: str
    shared: list[str]
    options: list[Option]
    differences: list[Different]
    rows: list[Compared]
    promise: str
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


class Screening(BaseModel):
    """What the person could change at all, as asked before the first question; null where it was not asked yet."""

    answered: bool
    offered: list[Named]
    changeable: list[str] | None
    difficulty: dict[str, int]


class Reason(BaseModel):
    """A principal reason of a refusal, compared with people who are accepted.

    ``doubtful``: it looks like a trait that the law may keep out of a decision, such as sex or age.
    """

    feature: str
    label: str
    text: str
    doubtful: bool


class Progress(BaseModel):
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
    progress: Progress
    answers: list[Given]
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


class FieldFault(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class Fault(BaseModel):
    """Why a request was refused, in one sentence; for bad input also by field.

    `stored` says whether what it asked for is stored all the same; null where the database did not tell.
    """

    error: str
    fields: list[FieldFault] = []
    state: State | None = None
    stored: bool | None = False
