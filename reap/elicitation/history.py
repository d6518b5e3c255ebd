"""What has happened in a session: its events, and its rounds with their questions and answers."""

from __future__ import annotations

from reap.elicitation.events import ACTS, Event
from reap.elicitation.prediction import Prediction
from reap.elicitation.question import Question
from reap.elicitation.rounds import Round


class History:
    """The events of a session, and the rounds that they make.

    Attributes
    ----------
    events : list of Event
        What happened, without what was undone.
    """

    events: list[Event]
    _rounds: list[Round]
    _round: Round

    @property
    def revision(self) -> int:
        """Number of acts so far; a question and a plan belong to one."""
        return sum(event.type in ACTS for event in self.events)

    @property
    def _ended(self) -> bool:
        """Whether the last thing that happened is the answer to a question announced as the last."""
        last = self._rounds[-1] if self._rounds else Round()
        answered = last.act is not None and last.act.type == "answered"
        return answered and last.question is not None and last.question.kind == "held-out"

    @property
    def history(self) -> list[tuple[Question, int | str]]:
        """The questions answered so far, each with its answer as it counts now; a warm-up does not count."""
        return [(question, act.payload["choice"]) for question, act in self._given()]

    @property
    def prediction(self) -> Prediction | None:
        """What we predicted for the held-out question, and whether it was right; None where there was none."""
        given = [*self.history, *([(self._round.question, None)] if self._round.question else [])]
        for question, choice in given:
            if question.predicted is not None and question.probability is not None:
                return Prediction(question.predicted, question.probability, choice)
        return None

    @property
    def impossible(self) -> list[list[str]]:
        """For each answer of ``history``, the features it named as impossible to change."""
        return [list(act.payload["impossible"]) for _, act in self._given()]

    def _given(self) -> list[tuple[Question, Event]]:
        """The answers that count."""
        return [(question, act) for question, act in self._replies() if question.kind != "warm-up"]

    def _replies(self) -> list[tuple[Question, Event]]:
        return [
            (done.question, done.act)
            for done in self._rounds
            if done.question is not None and done.act is not None and done.act.type == "answered"
        ]
