"""Every call that a server takes: what is sent, and what the answer means. Both clients are made of these."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import httpx

from streamcoref.client.values import Fed, JobStatus, Resolved, ServerError, StreamStatus, event_of, mention_of
from streamcoref.document import Document, Mention, Quotation
from streamcoref.events import EntityFinished, Event
from streamcoref.store import StoredEntity

Answer = TypeVar("Answer")
# A text, or the arguments of `resolve` by name.
RemoteInput = str | Mapping[str, Any]
FAR = 1 << 50  # characters, more than any text has
LINES = {"Accept": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """`arguments` are httpx's."""

    method: str
    path: str
    parse: Callable[[httpx.Response], Answer]
    arguments: dict[str, Any] = field(default_factory=dict)


def refusal(response: httpx.Response) -> ServerError:
    """The error of an answer that is no success."""
    try:
        said = str(response.json()["error"])
    except (ValueError, LookupError, TypeError):
        said = f"the server answered {response.status_code}"
    after = response.headers.get("retry-after", "")
    return ServerError(said, response.status_code, float(after) if after.isdigit() else None)


def unreachable(url: str, problem: httpx.TransportError) -> ServerError:
    return ServerError(f"{url}: the server cannot be reached ({problem})", 0)


def given(text: RemoteInput | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request to resolve something; what was not given is left out."""
    named = dict(text) if isinstance(text, Mapping) else {"text": text}
    return {name: value for name, value in (named | dict(arguments)).items() if value is not None}


def _body(values: Any) -> dict[str, Any]:
    """As `json.dumps` writes it: half characters are escaped, which UTF-8 cannot hold."""
    return {"content": json.dumps(values).encode(), "headers": {"Content-Type": "application/json"}}


def resolve(body: Mapping[str, Any]) -> Call[Resolved]:
    return Call("POST", "/v1/resolve", lambda answer: Resolved.of(answer.json()), _body(body))


def resolve_batch(texts: Sequence[RemoteInput], options: Mapping[str, Any]) -> Call[list[Resolved]]:
    body = {"texts": [given(text, {}) for text in texts], "options": options}
    return Call("POST", "/v1/resolve/batch", lambda answer: [Resolved.of(one) for one in answer.json()], _body(body))


def resolve_events(body: Mapping[str, Any]) -> Call[None]:
    """To be streamed."""
    arguments = _body(body)
    return Call("POST", "/v1/resolve", lambda _: None, arguments | {"headers": arguments["headers"] | LINES})


def split(body: Mapping[str, Any]) -> Call[Document]:
    return Call("POST", "/v1/split", lambda answer: Document.from_dict(answer.json()), _body(body))


def create_stream(state: bytes | None, options: Mapping[str, Any]) -> Call[StreamStatus]:
    body: dict[str, Any] = {"options": options}
    if state is not None:
        body["state"] = base64.b64encode(state).decode()
    return Call("POST", "/v1/streams", _stream_status, _body(body))


def change_stream(id_: str, what: str, body: Mapping[str, Any], number: int) -> Call[Fed]:
    """feed, flush or close."""
    path = f"/v1/streams/{id_}/{what}"
    return Call("POST", path, lambda answer: Fed.of(answer.json()), _body({**body, "call": number}))


def preview(id_: str, body: Mapping[str, Any]) -> Call[list[Event]]:
    def parse(answer: httpx.Response) -> list[Event]:
        return [event_of(one) for one in answer.json()["events"]]

    return Call("POST", f"/v1/streams/{id_}/preview", parse, _body(body))


def streams(offset: int, limit: int) -> Call[list[StreamStatus]]:
    def parse(answer: httpx.Response) -> list[StreamStatus]:
        return [StreamStatus.of(one) for one in answer.json()["streams"]]

    return Call("GET", "/v1/streams", parse, _page(offset, limit))


def stream_status(id_: str) -> Call[StreamStatus]:
    return Call("GET", f"/v1/streams/{id_}", _stream_status)


def stream_entities(id_: str) -> Call[list[EntityFinished]]:
    def parse(answer: httpx.Response) -> list[EntityFinished]:
        events = map(event_of, answer.json()["entities"])
        return [event for event in events if isinstance(event, EntityFinished)]

    return Call("GET", f"/v1/streams/{id_}/entities", parse)


def stream_state(id_: str) -> Call[bytes]:
    return Call("GET", f"/v1/streams/{id_}/state", lambda answer: answer.content)


def remove_stream(id_: str) -> Call[None]:
    return Call("DELETE", f"/v1/streams/{id_}", lambda _: None)


def submit(file: IO[bytes] | bytes, settings: Mapping[str, Any], options: Mapping[str, Any]) -> Call[JobStatus]:
    parameters = {name: value for name, value in settings.items() if value is not None}
    arguments = {"params": parameters | {"options": json.dumps(options)}, "files": {"file": ("file", file)}}
    return Call("POST", "/v1/jobs", _job_status, arguments)


def label(file: str | Path | bytes, name: str | None) -> str:
    """What a job is called: the name of its file."""
    return name or ("text" if isinstance(file, bytes) else Path(file).name)


def jobs() -> Call[list[JobStatus]]:
    return Call("GET", "/v1/jobs", lambda answer: [JobStatus.of(one) for one in answer.json()["jobs"]])


def job_status(id_: str) -> Call[JobStatus]:
    return Call("GET", f"/v1/jobs/{id_}", _job_status)


def job_entities(id_: str, offset: int, limit: int, name: str | None, type_: str | None) -> Call[list[StoredEntity]]:
    def parse(answer: httpx.Response) -> list[StoredEntity]:
        return [StoredEntity(**one) for one in answer.json()["entities"]]

    return Call("GET", f"/v1/jobs/{id_}/entities", parse, _page(offset, limit, name=name, type=type_))


def entity_mentions(id_: str, entity: int, offset: int, limit: int) -> Call[list[Mention]]:
    def parse(answer: httpx.Response) -> list[Mention]:
        return [mention_of(one) for one in answer.json()["mentions"]]

    return Call("GET", f"/v1/jobs/{id_}/entities/{entity}/mentions", parse, _page(offset, limit))


def job_mentions(id_: str, start: int, end: int, offset: int, limit: int) -> Call[list[tuple[int, Mention]]]:
    def parse(answer: httpx.Response) -> list[tuple[int, Mention]]:
        return [(one["entity"], mention_of(one)) for one in answer.json()["mentions"]]

    return Call("GET", f"/v1/jobs/{id_}/mentions", parse, _page(offset, limit, start=start, end=end))


def job_quotations(
    id_: str, start: int, end: int, speaker: int | None, offset: int, limit: int
) -> Call[list[Quotation]]:
    def parse(answer: httpx.Response) -> list[Quotation]:
        return [Quotation(**one) for one in answer.json()["quotations"]]

    return Call("GET", f"/v1/jobs/{id_}/quotations", parse, _page(offset, limit, start=start, end=end, speaker=speaker))


def job_text(id_: str, start: int, end: int) -> Call[str]:
    parameters = {"params": {"start": start, "end": end}}
    return Call("GET", f"/v1/jobs/{id_}/text", lambda answer: str(answer.json()["text"]), parameters)


def job_document(id_: str) -> Call[Document]:
    return Call("GET", f"/v1/jobs/{id_}/record", lambda answer: Document.from_dict(answer.json()))


def job_store(id_: str) -> Call[None]:
    """To be streamed."""
    return Call("GET", f"/v1/jobs/{id_}/store", lambda _: None)


def job_progress(id_: str) -> Call[None]:
    """To be streamed."""
    return Call("GET", f"/v1/jobs/{id_}/progress", lambda _: None)


def end_job(id_: str) -> Call[str]:
    return Call("DELETE", f"/v1/jobs/{id_}", lambda answer: str(answer.json()["state"]))


def _page(offset: int, limit: int, **others: Any) -> dict[str, Any]:
    named = {"offset": offset, "limit": limit} | others
    return {"params": {name: value for name, value in named.items() if value is not None}}


def _stream_status(answer: httpx.Response) -> StreamStatus:
    return StreamStatus.of(answer.json())


def _job_status(answer: httpx.Response) -> JobStatus:
    return JobStatus.of(answer.json())
