"""The shapes of a plan and of all that is said about it, for the API and for the pages."""

from __future__ import annotations

from pydantic import BaseModel

from reap.service.schemas import Ends, Named, Row, Threshold


class ChangeOut(BaseModel):
    """One action: a feature's whole change, its place in the order, and the score once it is done; null for a path.

    ``when`` says when it is done, in words; ``month`` counts from the start; ``brings`` is what the score gains by it.
    """

    feature: str
    label: str
    text: str
    before: str
    after: str
    signed: str
    step: int | None
    score: float | None
    said: str | None
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
    """How hard a change is for the person: 1 very easy to 5 very hard, 3 is their average."""

    feature: str
    label: str
    level: int
    words: str


class Pair(BaseModel):
    """Two changes that help or hinder each other."""

    first: str
    second: str
    strength: float
    words: str


class Alternative(BaseModel):
    """One of the plans to choose from; ``id`` names it when it is chosen.

    ``may_not_hold``: it asks for less, and today's model alone accepts it; ``note`` says so.
    """

    id: str
    headline: str
    changes: list[str]
    labels: list[str]
    months: int | None
    score: float
    note: str
    may_not_hold: bool = False
    durability: str = ""


class Chosen(BaseModel):
    """The plan that the person chose: when, what it asks, and until when the operator honours it, where that was promised."""

    id: str
    at: str
    headline: str
    changes: list[str]
    honoured_until: str | None
    model: str


class PlanOut(BaseModel):
    """The plan that suits the person best, as far as is known.

    ``refused``: they have turned it down before, and no other is left.
    """

    revision: int
    id: str
    status: str
    valid: bool
    headline: str
    note: str
    score_now: float
    score: float
    said_now: str
    said: str
    needed: str
    threshold: Threshold
    months: int | None
    changes: list[ChangeOut]
    follows: list[str]
    setback: str
    money: str
    fragile: str
    cliffs: list[str]
    price: str
    stages: list[Stage]
    target: Row
    durability: str
    effort: Effort | None
    confidence: Sure | None
    difficulties: list[Hard]
    pairs: list[Pair]
    conflicts: list[list[int]]
    relax: list[Named]
    others: list[Alternative]
    refused: bool = False
