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
HEAD = f"""# {COUNT} questions

What people are asked, over the data sets at hand. Each is from a session with a person whom a logistic regression
refuses, and a simulated person has answered the questions before it. The page is made by
`python scripts/print_questions.py`; nothing in it is edited.

A question compares two plans, or parts of plans with everything else equal, and says which. It shows at most three
differences, four where no smaller question helps. A difference is large enough to be felt; only where there is nothing else to
ask may a small change stand beside none. No option asks for all of the other and more, and nothing is asked twice in other
words.
"""


def questions(name: str, people: int) -> list[str]:
    """Return the k-th question of the k-th session, so that early and late ones are seen."""
    data = reap.datasets.load(name)
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(data.X, data.y)
    refused = data.X[model.predict(data.X) == 0].sample(people, random_state=4)
    engine = reap.Recourse(model, data.space).fit(data.X)
    printed = []
    for k in range(people):
        session = engine.elicit(refused.iloc[[k]], questions=people)
        person = reap.subjects.Mahalanobis.random(data.space.dimension, np.random.default_rng(k))
        question, last = session.ask(), None
        while question is not None and question.number <= k + 1:
            last = question
            session.answer(person.answer(question))
            question = session.ask()
        if last is not None:
            printed.append(str(last))
    return printed


def main() -> None:
    """Write the page."""
    at_hand = [entry for entry in reap.datasets.available() if entry.present and entry.name != "synthetic"]
    each = -(-COUNT // len(at_hand)) + 1
    left, page = COUNT, [HEAD]
    for i, entry in enumerate(at_hand):
        share = -(-left // (len(at_hand) - i))
        printed = questions(entry.name, each)[:share]
        left -= len(printed)
        page += [f"## {entry.title}\n", *(f"```text\n{text}\n```\n" for text in printed)]
    PAGE.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
