"""What recourse asks of people, and of whom: from the result of a batch to figures, a report and JSON."""

from __future__ import annotations

from reap.auditing.auditor import audit
from reap.auditing.result import Audit

__all__ = ["Audit", "audit"]
