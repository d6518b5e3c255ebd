"""A session in a notebook, with buttons: ``reap.notebook.buttons(session)``, in Jupyter, VS Code, Colab and marimo alike.

A thin skin over the session, as the page and the terminal are: it shows what the session shows, and says to it what was
clicked. Without anywidget a session is held in cells: ``session.ask()``, then ``session.answer("left")``.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from reap._errors import InputError
from reap._views import plan_html, question_html
from reap.elicitation import Elicitation, Question
from reap.language import _

#: Draws what the session says and sends what is clicked; it knows nothing of plans.
_SCRIPT = """
function render({ model, el }) {
  const draw = () => {
    const view = model.get("view");
    el.replaceChildren();
    el.className = "reap-session";
    const part = (name, props = {}) => Object.assign(document.createElement(name), props);
    const say = (act, extra = {}) => { model.send({ act, ...extra }); };
    if (view.problem) el.append(part("p", { className: "reap-problem", role: "alert", textContent: view.problem }));
    for (const html of view.html) { const box = part("div"); box.innerHTML = html; el.append(box); }
    const ticks = [];
    if (view.ticks.length) {
      const field = part("fieldset");
      field.append(part("legend", { textContent: view.legend }));
      for (const [name, label] of view.ticks) {
        const tick = part("input", { type: "checkbox", value: name, checked: view.ticked });
        const line = part("label"); line.append(tick, " " + label); field.append(line); ticks.push(tick);
      }
      el.append(field);
    }
    const row = part("div", { className: "reap-buttons" });
    for (const [act, words, main] of view.buttons) {
      const button = part("button", { textContent: words, className: main ? "reap-main" : "" });
      button.onclick = () => say(act, { ticked: ticks.filter((t) => t.checked).map((t) => t.value) });
      row.append(button);
    }
    el.append(row);
  };
  model.on("change:view", draw);
  draw();
}
export default { render };
"""
#: Colours are the notebook's own, so that light and dark themes both look right; margins are ours, since marimo takes all away.
_STYLE = """
.reap-session { font: inherit; max-width: 60em; }
.reap-session p { margin: .6em 0; }
.reap-session > div + div { border-top: 1px solid currentColor; margin-top: 1.2em; padding-top: .6em; }
.reap-session > div.reap-buttons { border: 0; margin: .6em 0; padding: 0; }
.reap-session fieldset { border: 1px solid currentColor; border-radius: .3em; margin: .5em 0; padding: .4em .8em; }
.reap-session label { display: block; padding: .15em 0; }
.reap-buttons { display: flex; flex-wrap: wrap; gap: .5em; }
.reap-buttons button { font: inherit; color: inherit; background: none; border: 1px solid currentColor;
  border-radius: .3em; padding: .4em .9em; cursor: pointer; }
.reap-buttons button.reap-main { background: #0b5394; border-color: #0b5394; color: #fff; }
.reap-problem { border-left: .3em solid #b45f06; padding-left: .6em; }
"""


def buttons(session: Elicitation, *, screening: bool = True, plans: int = 3) -> SessionWidget:
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
    anywidget.AnyWidget
        Show it as the last line of a cell.
    """
    return SessionWidget(session, screening, plans)


class SessionWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The widget's state is the session; every click draws it anew.

    Parameters
    ----------
    session : Elicitation
    screening : bool
    plans : int
    """

    _esm, _css = _SCRIPT, _STYLE
    #: What is drawn: pieces of HTML that the session wrote, ticks, and buttons (act, words, whether it stands out).
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Elicitation, screening: bool = True, plans: int = 3) -> None:
        super().__init__()
        self.session, self._screening, self._plans = session, screening, plans
        self.on_msg(lambda _widget, said, _buffers: self.act(said.get("act", ""), said.get("ticked", ())))
        self.draw()

    def act(self, what: str, ticked: Any = ()) -> None:
        """Do what a button stands for, as the person who clicks it; a sentence of refusal stands above the question.

        ``what``: "screen", "skip screening", "same", "skip", "neither", "undo", or the letter of an option.
        """
        try:
            if what == "screen":
                self.session.screen(list(ticked))
            elif what == "skip screening":
                self.session.screen(None)
            elif what == "undo":
                self.session.undo()
            else:
                self.session.answer(what, impossible=list(ticked) if what == "neither" else ())
        except InputError as refused:
            self.view = {**self.view, "problem": str(refused)}
        else:
            self.draw()

    def draw(self) -> None:
        """Show where the session stands."""
        if self._screening and not self.session.screened and not self.session.answered:
            shown = self._screen()
        elif (question := self.session.ask()) is not None:
            shown = self._ask(question)
        else:
            shown = self._end()
        self.view = {"problem": "", "html": [], "ticks": [], "ticked": False, "legend": "", **shown}

    def _screen(self) -> dict[str, Any]:
        """Which of these could you change at all?"""
        space = self.session.engine.space
        return {
            "legend": _("Which of these could you realistically change?"),
            "ticks": [[name, space.feature(name).label] for name in self.session.changeable],
            "ticked": True,
            "buttons": [["screen", _("Go on"), True], ["skip screening", _("Skip"), False]],
        }

    def _ask(self, question: Question) -> dict[str, Any]:
        """The question, a button an option, and what else can be said."""
        features = {c.feature: c.label for option in question.options for c in option.changes}
        return {
            "html": [question_html(question)],
            "legend": _("Impossible:"),
            "ticks": [[name, label] for name, label in features.items()],
            "buttons": [
                *([name, _("{option} is easier").format(option=name), True] for name in question.names),
                ["same", _("About the same"), False],
                ["neither", _("I can't do either"), False],
                ["skip", _("Skip"), False],
                *self._undo(),
            ],
        }

    def _end(self) -> dict[str, Any]:
        """Why nothing more is asked, and the plans, best first."""
        shown = self.session.plans(self._plans)
        told = [f"<p>{self.session.ended}</p>"] if self.session.ended else []
        return {"html": [*told, *(plan_html(plan) for plan in shown)], "buttons": self._undo()}

    def _undo(self) -> list[list[Any]]:
        return [["undo", _("Undo"), False]] if self.session.revision else []
