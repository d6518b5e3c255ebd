"""The shapes of what goes in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from reap.service.schemas import Row, Value

#: What a client may call a request; longer names or other characters do not fit every database.
KEY = r"^[A-Za-z0-9_-]{1,64}$"
Key = Annotated[str, Field(pattern=KEY, examples=["3f9c2d"])]
Revision = Annotated[int, Field(ge=0, le=10**6)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Start(_In):
    """The subject's row, one value a feature; `GET /api/v1/schema` lists them."""

    subject: Row
    questions: int | None = Field(None, ge=1, le=30, description="Answers asked for at most.")
    options: int | None = Field(None, ge=2, le=4, description="Plans in a question.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Fixes everything random.")
    given: list[Annotated[str, Field(max_length=200)]] = Field(
        [],
        max_length=500,
        description="Features that you know and the person cannot change by hand: shown, never asked.",
    )


class AnswerRequest(_In):
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


class ScreeningRequest(_In):
    """What the person could change at all, out of `screening.offered`, and how hard each is; null where they skip it."""

    changeable: list[Annotated[str, Field(max_length=200)]] | None = Field(max_length=500)
    difficulty: dict[Annotated[str, Field(max_length=200)], Annotated[int, Field(ge=1, le=5)]] = {}
    revision: Revision | None = None
    key: Key | None = None


class ChoiceRequest(_In):
    """The plan that the person chooses: the id of the plan, or of one of its `others`."""

    plan: str = Field(max_length=40)
    key: Key | None = None


class Done(_In):
    """What the person has done of the plan they chose, by feature."""

    done: list[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=100)
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
    """A row to score."""

    subject: Row
