"""A thousand requests made from the description of the server, well and badly formed: no mistake of ours in any."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx
from hypothesis import HealthCheck, Phase, settings

from tests.server.running import PATIENCE, STORY, Running, running, wait_for

EXAMPLES = 46  # for each of the operations, of which there are over twenty


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = {"text_characters": 2000, "stall_seconds": 5}
    with running(tmp_path_factory.mktemp("data"), limits) as server:
        yield server


@pytest.mark.slow
def test_requests_made_from_the_description(server: Running) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [not_a_server_error, response_schema_conformance, content_type_conformance, status_code_conformance]
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    with server.client() as client:
        stream = client.post("/v1/streams", json={}).json()["id"]
        job = client.post("/v1/jobs", content=STORY.encode()).json()["id"]
        wait_for(client, job, "done")
    statuses: Counter[int] = Counter()
    asked = Counter[str]()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith("/progress"):
            continue  # ends only with the job
        strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        hostile = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def ask(case: Any) -> None:
            if operation.method.upper() != "DELETE":  # noqa: B023 (asked at once)
                for name, known in (("stream", stream), ("job", job)):
                    if name in case.path_parameters and len(str(case.path_parameters[name])) % 2:
                        case.path_parameters[name] = known
            response = case.call(timeout=PATIENCE)
            case.validate_response(response, checks=checks)
            statuses[response.status_code] += 1
            asked[operation.label] += 1  # noqa: B023

        from hypothesis import given

        given(case=strategy | hostile)(ask)()
    assert statuses[500] == 0
    assert asked.total() >= 1000, asked
    assert len(asked) >= 20
    assert {200, 201, 404, 422} <= set(statuses)


def test_bytes_that_are_no_request(server: Running) -> None:
    choose = random.Random(5)
    paths = ["/v1/resolve", "/v1/resolve/batch", "/v1/streams", "/v1/jobs", "/v1/split", "/v1/streams/x/feed"]
    kinds = [
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "",
        'a/b;"',
        None,
    ]
    bodies = [
        b"",
        b"\xff\xfe\x00",
        b"[" * 5000,
        b'{"text": ' + b"9" * 5000 + b"}",
        b'{"text": NaN, "options": {"min_score": Infinity}}',
        b'{"text": "\\ud800", "key": "\\udfff"}',
        b'{"text": "a", "options": {"min_score": NaN}}',
        b'{"texts": [{"text": "\\ud800"}]}',
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="../../\x00"\r\n\r\nAnna left.\r\n--x--\r\n',
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nAnna',
        b'{"state": "c3RyZWFtY29yZWYgc3RyZWFtCg=="}',
        b'{"words": [["\\ud800", ""], []], "speakers": "\\udc00"}',
    ]
    statuses: Counter[int] = Counter()
    with server.client() as client:
        for _ in range(300):
            body = choose.choice(bodies)
            if choose.random() < 0.5:
                noise = bytearray(body or b"{}")
                for _ in range(choose.randint(1, 4)):
                    noise[choose.randrange(len(noise))] = choose.randrange(256)
                body = bytes(noise)
            kind = choose.choice(kinds)
            headers = {} if kind is None else {"Content-Type": kind}
            if choose.random() < 0.1:
                headers["Content-Encoding"] = choose.choice(["gzip", "identity", "br"])
            if choose.random() < 0.2:
                headers["Accept"] = choose.choice(["application/x-ndjson", "text/event-stream", "x", "*/*;q=x"])
            answer = client.request(
                choose.choice(["POST", "POST", "POST", "GET", "PUT"]),
                choose.choice(paths),
                content=body,
                headers=headers,
            )
            statuses[answer.status_code] += 1
            assert answer.status_code < 500, (body, headers, answer.text)
            if answer.status_code >= 400:
                assert list(answer.json()) == ["error"]
        assert len(statuses) > 4
        assert httpx.get(f"{server.url}/healthz").status_code == 200
