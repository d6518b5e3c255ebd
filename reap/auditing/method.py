"""The end of the report: how to read it, and what it was made from."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reap.auditing.result import Audit


def method(audit: Audit) -> str:
    """Return how to read the figures."""
    given = "a matrix that was given" if audit.manifest.get("matrix") is not None else "the identity"
    return f"""<h2>How to read this</h2>
<p><b>No legal plan</b>: the engine found no row that the model accepts and that the action space lets the person reach.
It is the engine's word, not a proof, except where the rules leave no legal row.</p>
<p><b>Effort</b> of a plan is ΔᵀAΔ ∕ ⟨A, S⟩ of its whole change Δ, from where the person is to where the plan ends. A is the
effort matrix assumed for everybody, here {given}. S is the mean of (a − r)(a − r)ᵀ over accepted people a and rejected people
r, on the columns people can act on. Effort is a square: a quarter of the effort is half of the way.</p>
<p><b>Of a span</b>: √(ΔᵀAΔ ∕ (tr A ∕ d)), the length of the median plan. The typical span of a number runs from its 1st to
its 99th percentile, so 20 % may be one number moved by a fifth of it; another level of a category counts as 141 %.</p>
<p><b>What carries it</b>: column i adds Δᵢ(AΔ)ᵢ, which sums to the effort.</p>
<p><b>Intervals</b>: Wilson's for shares, percentile bootstrap over people for medians. <b>Tests</b>: Pearson's χ² for shares,
Kruskal–Wallis for effort, by permutation where counts are small; p is the chance of a difference at least as large if
groups were alike. No correction for many comparisons is made.</p>
<p><b>Dependence on the assumed effort</b>: what is hard for a person is not known before they are asked. The same plans are
measured again with {len(audit.groupings[0].relative)} matrices drawn from the prior over people; a difference that keeps its
sign under nearly all of them does not rest on the assumption. People who were asked would also get other plans; that is not
counted here.</p>"""


def origin(audit: Audit) -> str:
    """Return versions and hashes of what was audited."""
    manifest, rows = audit.manifest, []
    engine = manifest.get("engine", {})
    for name, value in (
        ("Version of reap", manifest.get("reap")),
        ("Engine", engine.get("name")),
        ("Model", manifest.get("model")),
        ("Action space", manifest.get("space")),
        ("Input", manifest.get("data")),
        ("Answers", manifest.get("preferences")),
        *((f"File: {k}", v) for k, v in manifest.get("provenance", {}).items()),
    ):
        if value:
            rows.append(f"<tr><td>{escape(name)}</td><td><code>{escape(str(value))}</code></td></tr>")
    if not rows:
        return ""
    return f"<h2>Made from</h2><div class='scroll'><table><tbody>{''.join(rows)}</tbody></table></div>"
