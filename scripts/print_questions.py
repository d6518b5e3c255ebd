"""Print questions over the data sets at hand, as people read them, into docs/questions.md.

Run it again after a change of words or of how questions are chosen: ``python scripts/print_questions.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

PAGE = Path(__file__).resolve().parents[1] / "docs" / "questions.md"
COUNT = 20
#: People of a data set who are tried at most; some have one plan only, and are asked nothing.
PEOPLE = 25
HEAD = f"""# {COUNT} questions

What people are asked, over the data sets at hand. Each is from a session with a person whom a logistic regression
refuses, and a simulated person has answered the questions before it. The page is made by
`python scripts/print_questions.py`; nothing in it is edited.

A question compares two plans, or parts of plans with everything else equal, and says which. It shows at most three
differences, four where no smaller question helps. Each difference is large enough to be felt. No option asks for all of the
other and more, and nothing is asked twice in other words.
"""


def questions(name: str, count: int) -> list[str]:
    """Return some questions that read differently: the first of a session, the second of the next, and so on."""
    data = reap.datasets.load(name)
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(data.X, data.y)
    refused = data.X[model.predict(data.X) == 0]
    refused = refused.sample(min(PEOPLE, len(refused)), random_state=4)
    engine = reap.Recourse(model, data.space).fit(data.X)
    printed: dict[str, str] = {}
    for k in range(len(refused)):
        session = engine.elicit(refused.iloc[[k]], questions=count)
        person = reap.subjects.Mahalanobis.random(data.space.dimension, np.random.default_rng(k))
        question, last = session.ask(), None
        while question is not None and question.number <= len(printed) + 1:
            last = question
            session.answer(person.answer(question))
            question = session.ask()
        if last is not None:
            printed.setdefault(str(last).split("\n", 1)[1], str(last))
        if len(printed) == count:
            break
    return list(printed.values())


def main() -> None:
    """Write the page."""
    at_hand = [entry for entry in reap.datasets.available() if entry.present]
    left, page = COUNT, [HEAD]
    for i, entry in enumerate(at_hand):
        printed = questions(entry.name, -(-left // (len(at_hand) - i)))
        left -= len(printed)
        page += [f"## {entry.title}\n", *(f"```text\n{text}\n```\n" for text in printed)]
    PAGE.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
