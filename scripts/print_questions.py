"""Print questions over the data sets at hand, as people read them, into docs/questions.md.

Run it again after a change of words or of how questions are chosen: ``python scripts/print_questions.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import fill

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.elicitation import Question

PAGE = Path(__file__).resolve().parents[1] / "docs" / "questions.md"
COUNT = 20
#: People of a data set who are tried at most; some have one plan only, and are asked nothing.
PEOPLE = 25
HEAD = f"""# {COUNT} questions

A computer program has decided about you, and the answer was no. Several ways lead from there to a yes. Each asks
something else of you, and only you know which is easier for you. So you are shown two at a time, A and B. Some
questions show only a part of a way to a yes: your answer still tells which ways are easier for you.

To every question you can answer:

- **A is easier**
- **B is easier**
- **About the same**
- **I can’t do either** (then neither is shown again)
- **Skip** (if you would rather not say)

Each part below begins with who you are and what the yes would be. Every question is to another person, so what is said
about you changes from one to the next.[^made]
"""
FOOT = """[^made]: Made by `python scripts/print_questions.py`; nothing is edited. In each public data set a logistic regression
    refuses some people, and a simulated person answered the questions that came before the one printed, so a question may be
    the first, second or third of a session. Questions are numbered here through the page. A question shows at most three
    differences, each large enough to be felt. No option asks for all that is to be done for the other and more, and nothing
    is asked twice.
"""


def questions(name: str, count: int) -> tuple[str, list[Question]]:
    """Return what a data set is about, and questions that read differently: the first of a session, the second of the next."""
    data = reap.datasets.load(name)
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(data.X, data.y)
    refused = data.X[model.predict(data.X) == 0]
    refused = refused.sample(min(PEOPLE, len(refused)), random_state=4)
    engine = reap.Recourse(model, data.space).fit(data.X)
    printed: dict[str, Question] = {}
    for k in range(len(refused)):
        session = engine.elicit(refused.iloc[[k]], questions=count)
        person = reap.subjects.Mahalanobis.random(data.space.dimension, np.random.default_rng(k))
        question, last = session.ask(), None
        while question is not None and question.number <= len(printed) + 1:
            last = question
            session.answer(person.answer(question))
            question = session.ask()
        if last is not None:
            printed.setdefault(str(replace(last, number=1)), last)
        if len(printed) == count:
            break
    return _about(data.space), list(printed.values())


def _about(space: reap.ActionSpace) -> str:
    """Return who the person is and what the yes would be, as a space says it."""
    about, yes = (space.meaning.said(word) for word in ("about", "yes"))
    return fill(f"{about} What you want: {yes}.", 120) + "\n"


def main() -> None:
    """Write the page."""
    at_hand = [entry for entry in reap.datasets.available() if entry.present]
    at_hand.sort(key=lambda entry: entry.name == "synthetic")  # a game comes last: the others are like life
    done, page = 0, [HEAD]
    for i, entry in enumerate(at_hand):
        about, printed = questions(entry.name, -(-(COUNT - done) // (len(at_hand) - i)))
        page += [f"## {entry.title}\n", about]
        for question in printed:
            done += 1
            page.append(f"```text\n{replace(question, number=done)}\n```\n")
    PAGE.write_text("\n".join([*page, FOOT]), encoding="utf-8")


if __name__ == "__main__":
    main()
