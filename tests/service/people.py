"""Simulated people who walk the real pages, form by form, and what they find broken of the rules for people.

A person has an effort of their own for every change and answers by it. Now and then somebody skips the screening or a question,
says "neither", or wants none of the plans. What the pages say is judged as text; the plans behind it come from the desk.
"""

from __future__ import annotations

import html
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from reap import effort
from reap.checks.judge import Judge, dominates
from reap.elicitation.pool import key, noticed
from reap.recourse.advice import asks_for_less
from reap.service import papers, plans

#: Screens with a question at most: every one counts.
SCREENS = 7
#: Decisions too large to advise for the sake of a score.
LARGE = re.compile(
    r"buy a house|owned home|marry|divorce|child\b|degree|doctorate|law or medicine|retire|religion",
    re.IGNORECASE,
)
#: Claims that nobody can check, and words that no neighbour would use.
SURE = r"(?i)\bsure\b|guarantee|cheap|most people (choose|follow)|dearer|retraining|would (lend|give) you"


def text_of(page: str) -> str:
    """What a person reads: no tags, no scripts, one space."""
    body = re.sub(r"(?s)<(script|style).*?</\1>", " ", page.split("<main", 1)[-1])
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def form_of(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the first form that goes to this address."""
    found = re.search(rf'(?s)<form[^>]*action="[^"]*{action}"[^>]*>(.*?)</form>', page)
    assert found, f"no form for {action}"
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', found[1])
    return {name: html.unescape(value) for name, value in hidden}


@dataclass(frozen=True)
class First:
    """What a first plan comes to: its effort for this person and as a session sees it, beside the easiest plan of today."""

    effort: float
    times: float
    months: int
    durability: float


def announced(told) -> list[set[int]]:
    """Parts of a plan that are said to be enough, as numbers of steps."""
    parts = []
    for text in told.enough:
        steps = set(map(int, re.findall(r"\d+", text.split("today")[0])))
        if "Any one" in text:
            parts += [{step} for step in steps]
        else:
            parts.append(set(range(1, max(steps) + 1)) if "After" in text else steps)
    return parts


def text_of_pdf(file: bytes) -> str:
    """The words of a PDF of ours, with one space between them."""
    streams = re.findall(rb"(?s)stream\n(.*?)\nendstream", file)
    shown = (
        text
        for one in streams
        for text in re.findall(rb"(?s)\((.*?)(?<!\\)\) Tj", zlib.decompressobj().decompress(one))
    )
    return re.sub(r"\s+", " ", re.sub(r"\\(.)", r"\1", " ".join(text.decode("latin-1") for text in shown)))


@dataclass
class Walk:
    """One person's way through the pages of a running service, and the rules that were broken on it."""

    here: object  # tests.service.conftest.Running
    case: object
    seed: int
    broken: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    plans: list[First] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([7, self.seed])
        self.space = self.case.engine.space
        self.A = np.diag(np.exp(self.rng.normal(0, 1, self.space.dimension)))
        self.judge = Judge.of_engine(self.case.engine, self.case.like)
        #: A share is a claim where no value of this space is one.
        self.sure = (
            SURE if any("%" in f"{f.unit}{f.phrases}" for f in self.space.features) else rf"{SURE}|\d %"
        )
        #: Columns that are no words: nobody should read them.
        self.columns = [
            f.name
            for f in self.space.features
            if re.search(r"[_-]|[a-z][A-Z]|\d", f.name) and f.name != f.label
        ]

    def rule(self, name: str, holds: object, about: object = "") -> None:
        self.counts[name] += 1
        if not holds:
            self.broken.append(f"{name}: person {self.seed}: {about}")

    # pages -------------------------------------------------------------------------------------------

    def get(self, path: str) -> str:
        answer = self.here.client.get(f"/s/{self.token}{path}")
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        said = text_of(answer.text)
        self.rule("labels, never columns", not [c for c in self.columns if c in said], path)
        self.rule("plurals", not re.search(r"\b1 (months|changes|points|years|questions)\b", said), path)
        self.rule(
            "no nan, None or code",
            not re.search(r"\b(nan|NaN|np\.|None\b(?! of these))|\{\w+\}|%\(", said),
            path,
        )
        return answer.text

    def post(self, page: str, path: str, **fields: object) -> str:
        """Send a form of a page and return where it leads, without the token."""
        sent = {**form_of(page, path), **fields}
        answer = self.here.client.post(f"/s/{self.token}{path}", data=sent)
        assert answer.status_code == 303, (path, answer.status_code, text_of(answer.text)[:500])
        return answer.headers["location"].split(self.token, 1)[1].partition("?")[0]

    @property
    def session(self):
        with self.here.app.state.desk.open(self.token) as live:
            return live.session

    def effort(self, plan) -> float:
        return effort.of_moves(self.A, plan.moves)

    # the way -----------------------------------------------------------------------------------------

    def run(self, subject: dict) -> Walk:
        started = self.here.client.post("/api/v1/sessions", json={"subject": subject, "seed": self.seed})
        self.token = started.json()["token"]
        self.own, self.asked, self.refused, self.totals = dict(subject), [], [], set()
        said = text_of(self.get(""))
        self.rule("the decision is a no with its reasons", "would be no" in said and "main reasons" in said)
        where = self.screen()
        while where.startswith("/questions"):
            where = self.answer()
        self.plan()
        if self.seed % 6 == 5 and self.session.recommend().status == "ok":
            self.refuse()
        return self

    def screen(self) -> str:
        page = self.get("/changes")
        offered = re.findall(r'name="changeable" value="([^"]+)"', page)
        self.rule("screening comes first, on one page", bool(offered) and not self.session.answered)
        if self.seed % 4 == 3 or len(offered) < 3:
            self.ticked = None
            return self.post(page, "/changes", skip="1")
        count = max(2, round(0.6 * len(offered)))
        self.ticked = sorted(self.rng.choice(offered, count, replace=False).tolist())
        return self.post(page, "/changes", changeable=self.ticked)

    def answer(self) -> str:
        page, session = self.get("/questions"), self.session
        question = session.ask()
        if question is None:
            return "/plan"
        self.judge_question(page, question, session)
        self.asked.append(question)
        turn = len(self.asked)
        if self.seed % 5 == 1 and turn == 2:
            self.neither = question
            return self.post(page, "/answer", choice="neither")
        if self.seed % 5 == 2 and turn == 2:
            return self.post(page, "/answer", choice="skip")
        asks = [self.effort(option) for option in question.options]
        return self.post(page, "/answer", choice=str(int(np.argmin(asks))))

    def judge_question(self, page: str, question, session) -> None:
        said = text_of(page)
        rows = len(re.findall(r'<li class="[^"]*"><span class="sign', page)) // len(question.options)
        timed = 'class="takes"' in page  # how long each takes stands by its name: one more thing to weigh
        self.rule("at most 4 things differ, time among them", rows >= 1 and rows + timed <= 4, (rows, timed))
        self.counts["rows over 3"] += rows > 3
        self.counts["the time differs too"] += timed
        ends = [self.space.values(option.path[-1]) for option in question.options]
        worse = any(dominates(self.space, self.own, ends[i], ends[1 - i]) for i in (0, 1) if len(ends) == 2)
        self.rule("no dominated option", not worse, ends)
        changes = [np.abs(np.nan_to_num(option.path[-1] - option.path[0])) for option in question.options]
        gap = np.abs(changes[0] - changes[1])
        self.rule(
            "a difference one can feel",
            (gap >= noticed(self.space, question.options[0].path[0])).any(),
            gap.round(3),
        )
        self.rule(
            "says what is equal", "Nothing else has to change" in said or "These are only steps" in said
        )
        changed = {c.feature for option in question.options for c in option.changes}
        mute = [name for name in changed if not self.space.feature(name).phrases]
        self.rule("verbs, not columns", not mute, mute)
        items = re.findall(r"(?s)<li.*?</li>", " ".join(re.findall(r'(?s)<ul class="asks">(.*?)</ul>', page)))
        self.rule("colour never alone: marks", all('class="sign' in item for item in items))
        self.rule("colour never alone: letters", page.count('class="letter"') >= len(question.options))
        self.rule("claims nothing", not re.search(self.sure, said), said)
        progress = re.search(r"Question (\d+) of at most (\d+)", said)
        number = len(self.asked) + 1
        more = bool(self.totals) and number > max(self.totals) and "One more question" in said
        self.rule("progress", more or (progress and int(progress[1]) == number), said[:80])
        self.counts["screens beyond the promise"] += more
        if progress:
            self.totals.add(int(progress[2]))
        self.rule("progress never grows, and is short", len(self.totals) == 1 and max(self.totals) <= SCREENS)
        seen = {frozenset(map(key, q.options)) for q in self.asked}
        self.rule("a question never comes back", frozenset(map(key, question.options)) not in seen)
        kinds = "Two plans" in said, "Two steps" in said
        self.rule("two plans or two steps, never both", kinds == (question.whole, not question.whole), kinds)
        place = len(self.session.history) + 1
        self.rule("one address a question", self.get(f"/questions/{place}") and question.id in page)
        if self.ticked is not None:
            moved = {c.feature for option in question.options for c in option.changes}
            self.rule("what is unticked is fixed", moved <= set(self.ticked), moved)
        if hasattr(self, "neither"):
            set_aside = {key(option) for option in self.neither.options}
            self.rule("neither is honoured", not set_aside & set(map(key, question.options)))

    # the plan ----------------------------------------------------------------------------------------

    def plan(self) -> None:
        page = self.get("/plan")
        said, desk = text_of(page), self.here.app.state.desk
        with desk.open(self.token) as live:
            offered, best = plans.offered(desk, live), live.session.recommend()
            told, efforts = plans.advice(desk, live), [live.session.effort(plan) for plan in offered]
            easiest = live.session.engine.holding(0).plans(
                self.space.decode(live.session.here[None]), live.session.matrix[None], live.session.limits
            )[0]
            # who has turned plans down may have turned down the easiest; less than one came for is advised last
            known = [] if hasattr(self, "neither") or easiest.status != "ok" else [easiest]
            known = [plan for plan in (*known, *offered) if asks_for_less(plan) <= asks_for_less(best)]
            least = min(live.session.effort(plan) for plan in known) if best.status == "ok" else 0.0
        self.counts["with a plan" if best.status == "ok" else "no plan"] += 1
        if best.status != "ok":
            self.counts["no plan that holds, one of today"] += bool(offered)
            help_offered = "What would help" in said or "found no way" in said or best.note[:30] in said
            self.rule("without a plan: what would help", help_offered, said[:200])
            return
        self.judge_plan(page, said, best)
        self.plans.append(First(self.effort(best), efforts[0] / least, best.months, best.durability or 0.0))
        self.rule("the first plan is nearly the easiest", self.plans[-1].times <= 1.5 + 1e-6, self.plans[-1])
        self.parts_are_said(best, told)
        self.one_truth(said, best, told, offered, efforts)
        shown = re.findall(r'action="[^"]*/choose"', page)
        self.rule("every plan on offer can be chosen", len(shown) == len(offered))
        self.counts["two others or more"] += len(offered) >= 3
        self.rule("no plan twice", len({plans.name_of(p) for p in offered}) == len(offered))
        sure = [plan for plan in offered if not plans.may_not_hold(desk.case, plan)]
        # a safer plan may ask for more of the same
        kinds = [frozenset(c.feature for c in plan.changes) for plan in sure if "is safer" not in plan.note]
        self.rule("the others are clearly different", len(set(kinds)) == len(kinds), kinds)
        for plan in offered:
            if plan not in sure:
                self.rule("never recommended what may not hold", plan is not best and "may not hold" in said)
        self.rule("never one that was refused a moment ago", key(best) not in self.just_lost())
        where = self.post(page, "/choose", plan=plans.name_of(best))
        self.rule("chosen", where == "/plan" and "You chose this plan" in text_of(self.get("/plan")))
        self.do(told, best)

    def one_truth(self, said: str, best, told, offered, efforts) -> None:
        """Plan page, comparison, paper and API say the same, and none of them offers what another denies."""
        compare, paper = text_of(self.get("/compare")), text_of(self.get("/print"))
        pdf = text_of_pdf(self.here.client.get(f"/s/{self.token}/plan.pdf").content)
        api = self.here.client.get(f"/api/v1/sessions/{self.token}/plan").json()
        self.rule("the API says what the page says", api == told.model_dump(mode="json"))
        for sentence in filter(None, (told.headline, told.stands, told.fit, *told.enough, *told.cautions)):
            self.rule("the file says what the page says", papers.plain(sentence)[1:] in pdf, sentence)
        with self.here.app.state.desk.open(self.token) as live:
            answered = bool(live.session.answered)
        for place, text in (("plan", said), ("compare", compare), ("paper", paper)):
            self.rule(f"the {place} has the headline", told.headline in text, told.headline)
            self.rule(f"the {place} says how it stands", told.stands in text, told.stands)
            self.rule(f"the {place} is sure of nothing", not re.search(self.sure, text), text)
        for sentence in (*told.enough, *told.cautions, *filter(None, [told.fit[1:]])):
            self.rule("page and paper warn alike", sentence in said and sentence in paper, sentence)
        self.rule(
            "nothing is claimed before an answer",
            answered or ("nothing was learnt" in told.fit and not told.difficulties),
        )
        for plan, asks in zip(offered, efforts, strict=True):
            easier = asks < efforts[0] * (1 - 1e-6)
            flagged = (
                plans.may_not_hold(self.here.app.state.desk.case, plan)
                or "asks less of you than the first" in plan.note
            )
            self.rule(
                "an easier plan is said as such, with its flaw", flagged or not easier, (asks, efforts[0])
            )

    def parts_are_said(self, best, told) -> None:
        """Every part of the plan that today's model accepts already, by the second judge, is announced."""
        own, target = (self.space.values(best.path[i]) for i in (0, -1))
        less = [
            (how, row) for how, row in self.judge.less(own, target) if re.fullmatch(r"without [^,]+", how)
        ]
        for (how, _row), fine in zip(less, self.judge.accepts([row for _, row in less]), strict=True):
            left_out = how.removeprefix("without ").split(" and ")
            part = {action.step for action in told.changes if action.feature not in left_out}
            said = any(known <= part for known in announced(told))
            self.rule("a part that suffices is announced", said or not fine, (how, told.enough))

    def do(self, told, best) -> None:
        """Report the plan's actions one by one: the score is what the plan said, and an early yes was announced."""
        done: list[int] = []
        months = [action.month for action in told.changes if action.month is not None]
        self.rule("steps in the order of their dates", months == sorted(months), months)
        for action in told.changes:
            self.rule("no large decision", not LARGE.search(action.text), action.text)
            if action.step is None:
                return
            self.rule(
                "no step costs points", "−" not in action.brings and "±" not in action.brings, action.brings
            )
            where = self.post(self.get("/done"), "/done", done=action.feature)
            now = text_of(self.get(where))
            done.append(action.step)
            if action.score is not None:
                self.rule(
                    "done as planned", action.said in now or "Good news: yes" in now, (action.said, now[:200])
                )
            early = "Good news: yes" in now and len(done) < len(told.changes)
            self.rule(
                "an early yes was announced",
                not early or any(part <= set(done) for part in announced(told)),
                told.enough,
            )
        self.rule("all of it done is a yes", "Good news: yes" in now, now[:200])

    def just_lost(self) -> set:
        """Options that the last answer refused in favour of another that is still on the table."""
        history = self.session.history
        if not history or not isinstance(history[-1].choice, int) or not history[-1].question.whole:
            return set()
        options = history[-1].question.options
        left = {key(plan) for plan in self.session.pool}
        if key(options[history[-1].choice]) not in left:
            return set()
        return {key(o) for i, o in enumerate(options) if i != history[-1].choice}

    def judge_plan(self, page: str, said: str, plan) -> None:
        target = self.space.values(plan.path[-1])
        own = self.space.values(plan.path[0])
        shown = re.findall(r'(?s)<li class="card step">.*?<p class="do">(.*?)</p>', page)
        wanted = [html.unescape(text) for text in shown]
        self.rule(
            "each change once, as an action", sorted(wanted) == sorted(c.text for c in plan.changes), wanted
        )
        self.rule("at most 3 actions, or said why", len(wanted) <= 3 or "3 changes" in plan.note, len(wanted))
        with self.here.app.state.desk.open(self.token) as live:
            limits = live.session.limits
        spare = [how for how, row in self.judge.less(own, target) if self.judge.legal(own, row, limits)]
        rows = [row for how, row in self.judge.less(own, target) if self.judge.legal(own, row, limits)]
        needless = [k for k, fine in enumerate(self.judge.accepts(rows)) if fine]
        weighed = self.case.engine.acceptance_
        if weighed.by_chance:  # what today's decision does not need makes a yes likelier
            needless = [
                k for k in needless if weighed.likely(self.space.vector(rows[k])[None])[0] >= plan.chance
            ]
        needless = [spare[k] for k in needless]
        self.rule("nothing the decision does not need", not needless, needless)
        self.rule("legal, and nothing fixed is moved", self.judge.legal(own, target, limits), target)
        moved = {c.feature for c in plan.changes}
        fixed = {f.name for f in self.space.features if not f.is_action}
        self.rule("never advises what cannot change", not moved & fixed, moved & fixed)
        if self.ticked is not None:
            self.rule("only what was ticked", moved <= set(self.ticked), moved - set(self.ticked))
        if self.space.timed:
            timed = re.search(r"\d+ months?\b|ready at once", said)
            self.rule("says how long it takes", timed, said[:120])
        self.rule("holds tomorrow, by the second judge", self.judge.accepts([target])[0], target)
        self.rule("it is no promise", "not a promise" in said)
        self.rule("a cliff is said", not plan.cliffs or "A tiny difference decides" in said)
        level = re.search(r"neither easy nor hard|about average", said)
        self.rule("nothing learnt is not shown", not level, level and level[0])
        for old in self.asked if hasattr(self, "neither") else ():
            if old is self.neither:
                self.rule(
                    "a plan that was refused is not recommended", key(plan) not in set(map(key, old.options))
                )

    def refuse(self) -> None:
        """None of these: what was on offer does not come back."""
        other = self.here.client.post("/api/v1/sessions", json={"subject": self.own, "seed": self.seed})
        self.token = other.json()["token"]
        page = self.get("/plan")
        with self.here.app.state.desk.open(self.token) as live:
            gone = {key(plan) for plan in plans.offered(self.here.app.state.desk, live)}
        self.post(page, "/refuse")
        said = text_of(self.get("/plan"))
        with self.here.app.state.desk.open(self.token) as live:
            left = {key(plan) for plan in plans.offered(self.here.app.state.desk, live)}
        back = gone & left
        alone = len(left) == 1 and "we know of no other one" in said
        self.rule("none of these is honoured, or said to be all there is", not back or alone, back)
        self.counts["a refused plan is back: no other is left"] += bool(back)
