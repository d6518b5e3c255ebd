"""Bad input gets a clear answer: the API is fuzzed from its own description, and never breaks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

schemathesis = pytest.importorskip("schemathesis")


def test_no_operation_of_the_api_ever_breaks(service, row, case):
    """Rows, answers and wishes of every shape, on sessions that exist and on ones that do not."""
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

    api = schemathesis.openapi.from_url(f"{service.url}/api/v1/openapi.json")
    token = service.start(row)["token"]
    features = list(case.engine.space.names)
    seen = set()

    def fuzz(method, path):
        operation = api[path][method]
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

        @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=cases, real=st.integers(0, 3), name=st.sampled_from(features), other=st.booleans())
        def run(case, real, name, other):
            body = case.body if isinstance(case.body, dict) else {}
            if real and case.path_parameters and not (method == "DELETE" and path.endswith("{token}")):
                case.path_parameters["token"] = token
                if "feature" in case.path_parameters and real > 1:
                    case.path_parameters["feature"] = name
            if real and isinstance(body.get("subject"), dict):
                strange = next(iter(body["subject"].values()), None)
                body["subject"] = {**row, name: strange} if other else dict(row)
                if real == 3:  # nothing strange beside the row
                    for key in [key for key in body if key != "subject"]:
                        del body[key]
            if real and "feature" in body:
                body["feature"] = name
            if real > 1 and "question" in body:
                state = service.state(token)
                body |= {"revision": state["revision"], "question": (state["question"] or {"id": "x"})["id"]}
            answer = case.call()
            seen.add((path, answer.status_code))
            checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
            if answer.status_code in (400, 405):  # refused by the protocol, before the description applies
                checks = [not_a_server_error]
            case.validate_response(answer, checks=checks)

        run()

    described = service.client.get("/api/v1/openapi.json").json()["paths"]
    every = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert len(every) >= 29
    for method, path in sorted(every):
        fuzz(method, path)
    assert {200, 404, 422} <= {code for path, code in seen if "{token}" in path}
    # Whether a row drawn at random is taken is chance; what becomes of these two is not.
    assert service.client.post("/api/v1/sessions", json={"subject": row}).status_code == 201
    strange = {**row, features[0]: "strange"}
    assert service.client.post("/api/v1/sessions", json={"subject": strange}).status_code == 422
    assert list(service.store.faults()) == []
    assert service.state(token)["revision"] > 0
