"""Write ``requirements.lock``: every package of the image, its version and the hashes of its files.

    python scripts/lock.py

The image is Linux on x86-64 and ARM with the Python of the Dockerfile; a package that has no file for one of them has hashes
for the other only. Nothing of where packages come from is written: the index is the builder's.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MACHINES = ("x86_64", "aarch64")
GLIBC = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")


def python_version() -> str:
    """Return the Python of the image."""
    found = re.search(r"^FROM python:(\d+\.\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)
    if found is None:
        raise SystemExit("the Dockerfile names no Python; expected a line such as FROM python:3.13-slim")
    return found[1]


def wanted() -> list[str]:
    """Return what the package and its extra web ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["web"]]


def resolved(machine: str) -> dict[str, tuple[str, str]]:
    """Return version and hash of every package, by name, for one kind of machine."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--only-binary=:all:", "--python-version", python_version(), "--target", folder]
        command += [part for tag in GLIBC for part in ("--platform", f"{tag}_{machine}")]
        subprocess.run([*command, "--report", str(report), *wanted()], check=True, stderr=subprocess.DEVNULL)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {
        re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower(): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in found
    }


def main() -> None:
    """Write the file, or say for which machines it could not be resolved."""
    tables, missing = [], []
    for machine in MACHINES:
        try:
            tables.append(resolved(machine))
        except subprocess.CalledProcessError:
            missing.append(machine)
    if not tables:
        raise SystemExit("pip could not resolve the packages for any machine; is an index at hand?")
    lines = [
        f"# Made by `make lock` for Python {python_version()}; install with pip install --require-hashes -r requirements.lock"
    ]
    if missing:
        lines.append(f"# No files were found for {', '.join(missing)}: build there without this file.")
    for name, (version, _) in sorted(tables[0].items()):
        hashes = dict.fromkeys(
            table[name][1] for table in tables if name in table and table[name][0] == version
        )
        lines.append(f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{each}" for each in hashes))
    (ROOT / "requirements.lock").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"requirements.lock: {len(tables[0])} packages"
        + (f"; not for {', '.join(missing)}" if missing else "")
    )


if __name__ == "__main__":
    main()
