#!/bin/sh
# Installs a wheel where nothing of the repository is at hand, and does what a newcomer does: sh scripts/release-check.sh dist/*.whl
set -eu
wheel=$(realpath "$1")
first=$(realpath docs/index.md)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
"${PYTHON:-python3}" -m venv "$home/env"
"$home/env/bin/pip" install --quiet --disable-pip-version-check "$wheel"
mkdir "$home/elsewhere"
cd "$home/elsewhere"
unset PYTHONPATH
"$home/env/bin/python" -c 'import pathlib, reap; assert "site-packages" in str(pathlib.Path(reap.__file__)), reap.__file__; print("reap", reap.__version__)'
"$home/env/bin/reap" demo
"$home/env/bin/python" -m reap.checks
# The first page of the site, pasted.
"$home/env/bin/python" - "$first" <<'PASTED'
import pathlib, re, sys
for block in re.findall(r"```python\n(.*?)```", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), flags=re.DOTALL):
    exec(compile(block, "docs/index.md", "exec"), {"__name__": "__main__"})
PASTED
echo "The wheel works on its own."
