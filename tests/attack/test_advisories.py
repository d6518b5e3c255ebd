"""The audit of what is pinned says what it found, and says when it could not look."""

from __future__ import annotations

import json

import pytest

from scripts import audit

#: Stands in for pip-audit: says what a file holds for the service that is asked, or fails as it does without a network.
STAND_IN = """
import json, sys
asked = sys.argv[sys.argv.index("--vulnerability-service") + 1]
assert "--disable-pip" in sys.argv  # no Python of the lock's version is needed
said = json.load(open({file!r})).get(asked)
sys.exit("no way to the advisories") if said is None else print(json.dumps({{"dependencies": said}}))
"""
FINE = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1"}]}
SKIPPED = {"name": "b", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("said", "code", "out", "err"),
    [
        ({"pypi": [FINE]}, audit.CLEAN, "1 packages looked up, 0 with", ""),
        ({"pypi": [FINE, WEAK]}, audit.WEAK, "b 2: CVE-1", ""),
        ({"osv": [FINE, WEAK]}, audit.WEAK, "b 2: CVE-1", "pypi could not be asked: no way"),
        ({"pypi": [FINE, SKIPPED], "osv": [FINE, WEAK]}, audit.WEAK, "b 2: CVE-1", ""),
        ({"pypi": [FINE, SKIPPED]}, audit.BLIND, "1 packages looked up", "could not look up 1 packages"),
        (
            {"pypi": [WEAK, {**SKIPPED, "name": "c"}]},
            audit.WEAK,
            "b 2: CVE-1",
            "could not look up 1 packages",
        ),
        ({}, audit.BLIND, "", "could not look up anything"),
    ],
)
def test_what_is_found_and_what_could_not_be_looked_up(said, code, out, err, tmp_path, monkeypatch, capsys):
    (tmp_path / "said.json").write_text(json.dumps(said))
    (tmp_path / "pip_audit.py").write_text(STAND_IN.format(file=str(tmp_path / "said.json")))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert audit.main() == code
    told = capsys.readouterr()
    assert out in told.out
    assert err in told.err
    assert bool(err) == bool(told.err)


def test_without_pip_audit_it_says_so(tmp_path, capsys, monkeypatch):
    (tmp_path / "pip_audit.py").write_text("raise ModuleNotFoundError('No module named pip_audit')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert audit.main() == audit.BLIND
    assert "No module named pip_audit" in capsys.readouterr().err


def test_every_package_of_the_lock_is_pinned_with_its_hash():
    lines = audit.LOCK.read_text().replace("\\\n", " ").splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert pinned
    assert all("==" in line and "--hash=sha256:" in line for line in pinned)
