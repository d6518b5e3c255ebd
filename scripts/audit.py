"""Look up the packages of ``requirements.lock`` among known weaknesses: ``make audit``.

Ends with 0 where none is known, 1 where one is, and 3 where it could not look: without pip-audit, or without a way to the
advisories.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"
CLEAN, WEAK, BLIND = 0, 1, 3


def main() -> int:
    """Run pip-audit and say what it found, or why it could not look."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--require-hashes"]
    done = subprocess.run(
        [*command, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        said = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        print(f"The audit could not run, so nothing is known: {said}", file=sys.stderr)
        return BLIND
    weak = [package for package in packages if package.get("vulns")]
    for package in weak:
        known = ", ".join(each["id"] for each in package["vulns"])
        print(f"{package['name']} {package['version']}: {known}")
    skipped = [package["name"] for package in packages if package.get("skip_reason")]
    print(f"{len(packages)} packages looked up, {len(weak)} with known weaknesses.")
    if skipped:
        print(f"The audit could not look up {', '.join(skipped)}.", file=sys.stderr)
        return WEAK if weak else BLIND
    return WEAK if weak else CLEAN


if __name__ == "__main__":
    raise SystemExit(main())
