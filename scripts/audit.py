"""Look up the packages of ``requirements.lock`` among known weaknesses: ``make audit``.

The lock names every package and version of the image, so nothing is resolved or installed and any Python can look: first in
the advisories of PyPI, then, for what is not found there, in those of OSV. Ends with 0 where no weakness is known, 1 where
one is, and 3 where it could not look: without pip-audit, or without a way to the advisories.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"
CLEAN, WEAK, BLIND = 0, 1, 3
SERVICES = ("pypi", "osv")


def looked_up(lock: Path, service: str) -> list[dict[str, Any]]:
    """Return what one service says of each package; raise LookupError with its last word where it says nothing."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--requirement",
        str(lock),
        "--require-hashes",
        "--disable-pip",
    ]
    command += ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        raise LookupError((done.stderr.strip().splitlines() or ["no answer"])[-1]) from None
    return packages


def main(lock: Path = LOCK) -> int:
    """Ask every service until each package was looked up; say what was found, and what could not be looked up."""
    known: dict[str, dict[str, Any]] = {}
    unknown: dict[str, str] = {}
    for service in SERVICES:
        try:
            packages = looked_up(lock, service)
        except LookupError as error:
            print(f"{service} could not be asked: {error}", file=sys.stderr)
            continue
        known |= {p["name"]: p for p in packages if not p.get("skip_reason")}
        unknown = {p["name"]: p["skip_reason"] for p in packages if p["name"] not in known}
        if not unknown:
            break
    weak = [package for package in known.values() if package["vulns"]]
    for package in weak:
        names = ", ".join(each["id"] for each in package["vulns"])
        print(f"{package['name']} {package['version']}: {names}")
    if known:
        print(f"{len(known)} packages looked up, {len(weak)} with known weaknesses.")
    if unknown or not known:
        why = next(iter(unknown.values()), "no service answered")
        left = f"{len(unknown)} packages" if unknown else "anything"
        print(f"The audit could not look up {left}, so nothing is known of them: {why}", file=sys.stderr)
    return WEAK if weak else BLIND if unknown or not known else CLEAN


if __name__ == "__main__":
    raise SystemExit(main())
