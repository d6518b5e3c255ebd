"""A session in a notebook, with buttons: ``reap.notebook.buttons(session)``.

A thin skin over the session, as the page and the terminal are: it shows what the session shows, and says to it what
was clicked. Without ipywidgets a session is held in cells: ``session.ask()``, then ``session.answer("left")``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from reap._errors import InputError
from reap.elicitation import Elicitation, Question
from reap.language import _


def buttons(session: Elicitation, *, screening: bool = True, plans: int = 3) -> Any:
    """Return a widget that asks the session's questions, one after the other, and ends with its plans.

    Parameters
    ----------
    session : Elicitation
        It may have answers already; what is clicked goes into it, so ``session.recommend()`` and ``session.to_json()``
        work beside the buttons at any time.
    screening : bool
        Ask first which of the features the person could change at all, where nothing was said yet.
    plans : int
        How many plans are shown at the end: the best, and clearly different ones.

    Returns
    -------
    ipywidgets.VBox
        Show it as the last line of a cell.
    """
    try:
        import ipywidgets
    except ImportError:
        raise InputError(
            "buttons need ipywidgets: pip install 'reap-recourse[notebook]'; "
            'or answer in cells, with session.ask() and session.answer("left")'
        ) from None
    return _Buttons(ipywidgets, session, screening, plans).box


class _Buttons:
    """The widget's state is the session; every click draws it anew."""

    def __init__(self, widgets: Any, session: Elicitation, screening: bool, plans: int) -> None:
        self.widgets, self.session, self.screening, self.plans = widgets, session, screening, plans
        self.box = widgets.VBox()
        self.draw()

    def draw(self) -> None:
        if self.screening and not self.session.screened and not self.session.answered:
            self.box.children = self.screened()
            return
        question = self.session.ask()
        self.box.children = self.asked(question) if question is not None else self.ended()

    def screened(self) -> list[Any]:
        """Which of these could you change at all?"""
        space = self.session.engine.space
        ticks = {
            name: self.widgets.Checkbox(value=True, description=space.feature(name).label, indent=False)
            for name in self.session.changeable
        }

        def said() -> None:
            self.session.screen([name for name, tick in ticks.items() if tick.value])

        return [
            self.widgets.Label(_("Which of these could you realistically change?")),
            *ticks.values(),
            self.widgets.HBox(
                [
                    self.button(_("Go on"), said, primary=True),
                    self.button(_("Skip"), lambda: self.session.screen(None)),
                ]
            ),
        ]

    def asked(self, question: Question) -> list[Any]:
        """The question, a button an option, and what else can be said."""
        options = [
            self.button(
                _("{option} is easier").format(option=name), partial(self.session.answer, i), primary=True
            )
            for i, name in enumerate(question.names)
        ]
        others = [
            self.button(_("About the same"), lambda: self.session.answer("same")),
            self.button(_("Skip"), lambda: self.session.answer("skip")),
        ]
        features = {c.feature: c.label for option in question.options for c in option.changes}
        impossible = self.widgets.SelectMultiple(
            options=[(label, name) for name, label in features.items()],
            description=_("Impossible:"),
            rows=min(len(features), 6),
        )
        neither = self.button(
            _("I can't do either"), lambda: self.session.answer("neither", impossible=list(impossible.value))
        )
        row = self.widgets.HBox
        return [
            self.widgets.HTML(question._repr_html_()),
            row([*options, *others, self.undo()]),
            row([impossible, neither]),
        ]

    def ended(self) -> list[Any]:
        """The plans, best first."""
        shown = self.session.plans(self.plans) or [self.session.recommend()]
        return [*(self.widgets.HTML(plan._repr_html_()) for plan in shown), self.undo()]

    def undo(self) -> Any:
        button = self.button(_("Undo"), self.session.undo)
        button.disabled = self.session.revision == 0
        return button

    def button(self, words: str, act: Callable[[], object], *, primary: bool = False) -> Any:
        """A button that does something to the session; a sentence of refusal stands above the question."""
        button = self.widgets.Button(description=words, button_style="primary" if primary else "")

        def clicked(_button: Any) -> None:
            try:
                act()
            except InputError as refused:
                problem = self.widgets.Label(str(refused))
                self.box.children = [problem, *self.box.children]
            else:
                self.draw()

        button.on_click(clicked)
        return button
