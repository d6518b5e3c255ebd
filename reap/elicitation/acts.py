"""What the person says: each act is checked and becomes an event, which then happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError
from reap.elicitation import saying
from reap.elicitation.state import State


class Acts(State):
    """A session that the person can speak to; see ``State``."""

    def screen(
        self, changeable: Sequence[str] | None, *, difficulty: Mapping[str, int] | None = None
    ) -> None:
        """Say before the first question what could realistically change, and how hard that would be.

        Parameters
        ----------
        changeable : sequence of str, or None
            Names out of ``changeable``; every other action stays as it is. None: skipped. Another screening replaces the
            limits of the one before.
        difficulty : mapping of feature to level, optional
            1 very easy to 5 very hard, for features that are named.
        """
        self.apply(saying.screened(self.space, self.changeable, changeable, difficulty))

    def answer(self, choice: int | str, *, impossible: str | Sequence[str] = ()) -> None:
        """Answer the question that ``ask`` returned.

        Parameters
        ----------
        choice : int or str
            An option's index or letter, "left", "right", "same", "neither" or "skip".
        impossible : sequence of str
            With "neither": the features whose change is impossible; no plan will touch them again. Every option
            that this does not rule out is set aside: neither shown nor recommended again while another plan is left.
        """
        if self._round.question is None:
            raise InputError("there is no question to answer; call ask() first")
        self.apply(saying.answered(self.space, self._round.question, choice, impossible))

    def revise(self, position: int, choice: int | str, *, impossible: str | Sequence[str] = ()) -> None:
        """Give another answer to an earlier question, by its position in ``history``; later answers stay."""
        self.apply(saying.revised(self.space, self.history, position, choice, impossible))

    def constrain(
        self,
        feature: str | None = None,
        *,
        fixed: bool = False,
        at_least: Any = None,
        at_most: Any = None,
        exclude: Sequence[Any] = (),
        difficulty: int | None = None,
        within_months: int | None = None,
    ) -> None:
        """State a wish about one feature, at any time: keep it, bound it, exclude levels, say how hard it is (1 to 5).

        ``within_months``, with or without a feature, says when the plan must be done.
        """
        self.apply(
            saying.constrained(
                self.space,
                feature,
                fixed=fixed,
                at_least=at_least,
                at_most=at_most,
                exclude=exclude,
                difficulty=difficulty,
                within_months=within_months,
            )
        )

    def release(self, feature: str) -> None:
        """Take back every limit on one feature, or on the whole plan ("max_changes", "within_months")."""
        self.apply(saying.released(self.limits, feature))

    def replan(self, x_now: Any) -> None:
        """Go on from where the person is now, with all that was learnt about them."""
        z, codes = self._everybody.read(x_now)
        self.apply(saying.replanned(self._everybody.at(z, codes), z))
