"""The client in the documentation works as printed."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_typed_client_of_the_docs_gets_a_plan(service, row):
    text = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(from uuid.*?)```", text, re.DOTALL)
    scope = {}
    exec(compile(code, "docs/service.md", "exec"), scope)
    plan = scope["advise"](service.url, row, lambda question: len(question.rows) % 2)
    assert plan.valid
    assert plan.changes[-1].score > plan.threshold
