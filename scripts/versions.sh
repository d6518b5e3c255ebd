#!/bin/sh
# The core tests with every dependency at its lowest allowed release, or at the newest there is: sh scripts/versions.sh lowest
# Needs uv. Makes build/<which> with the Python named in PYTHON; nothing else is touched. Further words go to pytest: … lowest -n 0 -x
set -eu
which=${1:?lowest or newest}
shift
cd "$(dirname "$0")/.."
home=build/$which
case $which in
  lowest) how="--resolution lowest-direct" ;;
  newest) how="--resolution highest --prerelease allow" ;;
  *) echo "give lowest or newest" >&2; exit 2 ;;
esac
mkdir -p "$home"
uv venv --quiet --clear --python "${PYTHON:-python3}" "$home/env"
rm -f "$home/requirements.txt"   # uv would keep the releases it finds there
# shellcheck disable=SC2086
uv pip compile --quiet $how --python "$home/env/bin/python" --extra plots --extra web --extra cluster --extra boosters --extra notebook \
  pyproject.toml -o "$home/requirements.txt"
uv pip install --quiet --python "$home/env/bin/python" -r "$home/requirements.txt" \
  pytest pytest-timeout pytest-xdist pytest-rerunfailures hypothesis clarabel networkx httpx psutil polars schemathesis
# Old releases warn about newer ones beneath them: not ours to mend, so warnings are no errors here.
OMP_NUM_THREADS=1 PYTHONPATH=. "$home/env/bin/python" -m pytest -q -n 2 -o filterwarnings=default -m "not extras and not long and not slow" \
  tests/space tests/belief tests/questions tests/recourse tests/models tests/elicitation tests/checks tests/batch tests/auditing tests/learning \
  tests/datasets tests/test_bad_inputs.py tests/test_cli.py tests/test_cli_scores.py tests/test_language.py tests/test_notebook.py \
  tests/test_numerals.py tests/test_package.py tests/test_plan.py tests/test_scores.py tests/test_walls.py "$@"
