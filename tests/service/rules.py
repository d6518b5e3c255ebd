"""More rules for people, each counted on a walk through the real pages: how questions are put, and what plans claim."""

from __future__ import annotations

import re

from reap.service import offers


def of_question(walk, page: str, said: str, question) -> None:
    """Verbs instead of columns, a mark beside every colour and no row that is the same for all."""
    changed = {c.feature for option in question.options for c in option.changes}
    mute = [name for name in changed if not walk.space.feature(name).phrases]
    walk.rule("verbs, not columns", not mute, mute)
    rows = re.findall(r'(?s)<ul class="asks">(.*?)</ul>', page)
    items = [item for row in rows for item in re.findall(r"(?s)<li.*?</li>", row)]
    walk.rule("colour never alone: letters and direction marks", all('class="sign' in item for item in items))
    walk.rule("colour never alone: letters", page.count('class="letter"') >= len(question.options))
    walk.rule("no row about steps", not re.search(r"\bSteps?:? \d", said), said[:80])


def of_plan(walk, page: str, said: str, best, offered: list, desk) -> None:
    """It holds by the second judge's own retrainings, the others are clearly different, and nobody is told what people follow."""
    target = walk.space.values(best.path[-1])
    walk.rule("holds tomorrow, by the second judge", walk.judge.accepts([target])[0], target)
    walk.rule("the score is above what is needed", best.scale.enough(best.score), best.score)
    sure = [plan for plan in offered if not offers.may_not_hold(desk, plan)]
    kinds = [frozenset(change.feature for change in plan.changes) for plan in sure]
    walk.rule("the others are clearly different", len(set(kinds)) == len(kinds), kinds)
    walk.rule(
        "never 'cheapest, hence followed'", not re.search(r"(?i)cheap|most people (choose|follow)", said)
    )
    gains = [
        int(sign + n)
        for sign, n in re.findall(r"([+-])(\d+) points?", said.replace("−", "-").replace("±", "+"))
    ]
    shown = re.search(r"\bnow (\d+) then (\d+)\b", said)  # beside the scale of scores
    if shown and len(gains) == len(best.changes) and best.scale.output == "probability":
        walk.rule(
            "what actions bring adds up", sum(gains) == int(shown[2]) - int(shown[1]), (gains, shown[0][-60:])
        )
