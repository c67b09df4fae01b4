"""The client for programs that wait for each answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from websockets.sync.client import ClientConnection, connect

from streamcoref.client import calls
from streamcoref.client.calls import Answer, Call, RemoteInput
from streamcoref.client.unsafe_calls import CONFLICT, PASSING, UnsafeCalls, pause
from streamcoref.client.values import Fed, JobStatus, Resolved, ServerError, StreamStatus, event_of, record_of
from streamcoref.document import Document, Mention, Quotation
from streamcoref.events import EntityFinished, Event
from streamcoref.progress import ReadingProgress
from streamcoref.store import StoredEntity


class Client:
    """A server at `url`. To be closed after use, or used in a `with` block.

    For `patience` seconds, calls are made again to a server that cannot be reached, is busy or stops.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 300.0, patience: float = 30.0) -> None:
        self.url, self.patience = url.rstrip("/"), patience
        self.headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=self.url, headers=self.headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call[Answer], *, again: bool = True) -> Answer:
        """The answer to a call; `again` says whether it may be made more than once."""
        until, tries = time.monotonic() + self.patience, 0
        while True:
            try:
                response = self._http.request(call.method, call.path, **call.arguments)
            except httpx.TransportError as problem:
                if not again or time.monotonic() > until:
                    raise calls.unreachable(self.url, problem) from problem
                error = None
            else:
                if response.is_success:
                    return call.parse(response)
                error = calls.refusal(response)
                if not again or error.status not in PASSING or time.monotonic() > until:
                    raise error
            time.sleep(pause(error, tries, until))
            tries += 1

    @contextmanager
    def _streamed(self, call: Call[None]) -> Iterator[httpx.Response]:
        """An answer to be read while it comes."""
        with self._http.stream(call.method, call.path, **call.arguments) as response:
            if not response.is_success:
                response.read()
                raise calls.refusal(response)
            yield response

    @contextmanager
    def _lines(self, call: Call[None]) -> Iterator[Iterator[str]]:
        with self._streamed(call) as response:
            yield (line for line in response.iter_lines() if line)

    def resolve(self, text: str | None = None, *, options: Mapping[str, Any] | None = None, **given: Any) -> Resolved:
        """A text, or `words` with `speakers`, or `turns`, with its entities; `key` is what to call it."""
        return self.send(calls.resolve(calls.given(text, {**given, "options": options})))

    def resolve_many(self, texts: Sequence[RemoteInput], **options: Any) -> list[Resolved]:
        """Several texts, each a str or a mapping with the arguments of `resolve`."""
        return self.send(calls.resolve_batch(texts, options))

    def events(
        self, text: str | None = None, *, options: Mapping[str, Any] | None = None, **given: Any
    ) -> Iterator[Event | ReadingProgress]:
        """What is found while a long text is read, and how far that is."""
        with self._lines(calls.resolve_events(calls.given(text, {**given, "options": options}))) as lines:
            for line in lines:
                if (one := record_of(json.loads(line))) is None:
                    return
                yield one

    def split(self, text: str | None = None, **given: Any) -> Document:
        """Words and sentences, without an answer."""
        return self.send(calls.split(calls.given(text, given)))

    def stream(self, state: bytes | None = None, **options: Any) -> RemoteStream:
        """A new stream; with a `state`, one that goes on."""
        return RemoteStream(self, self.send(calls.create_stream(state, options), again=False))

    def open_stream(self, id_: str) -> RemoteStream:
        """A stream that was made before."""
        return RemoteStream(self, self.send(calls.stream_status(id_)))

    def streams(self, offset: int = 0, limit: int = 100) -> list[RemoteStream]:
        """Those of this key, the oldest first."""
        return [RemoteStream(self, status) for status in self.send(calls.streams(offset, limit))]

    def submit(
        self,
        file: str | Path | bytes,
        *,
        name: str | None = None,
        format: str | None = None,  # noqa: A002
        encoding: str | None = None,
        errors: str | None = None,
        **options: Any,
    ) -> RemoteJob:
        """A book, by its path or its bytes, to be read in the background."""
        settings = {"name": calls.label(file, name), "format": format, "encoding": encoding, "errors": errors}
        if isinstance(file, bytes):
            return RemoteJob(self, self.send(calls.submit(file, settings, options), again=False))
        with Path(file).open("rb") as stream:
            return RemoteJob(self, self.send(calls.submit(stream, settings, options), again=False))

    def jobs(self) -> list[RemoteJob]:
        return [RemoteJob(self, status) for status in self.send(calls.jobs())]

    def job(self, id_: str) -> RemoteJob:
        return RemoteJob(self, self.send(calls.job_status(id_)))


class RemoteStream:
    """Made by `Client.stream`; as `Stream`, but on a server. What a killed server has lost is fed again."""

    def __init__(self, client: Client, status: StreamStatus) -> None:
        self._client, self._unsafe = client, UnsafeCalls(status)
        self.id = status.id

    @property
    def status(self) -> StreamStatus:
        """As of the latest call."""
        return self._unsafe.status

    def feed(self, text: str, speaker: str | None = None, *, end_turn: bool = False) -> list[Event]:
        return self._change("feed", {"text": text, "speaker": speaker, "end_turn": end_turn}).events

    def feed_words(self, words: Sequence[Sequence[str]], speaker: Any = None) -> list[Event]:
        return self._change("feed", {"words": words, "speaker": speaker}).events

    def flush(self) -> list[Event]:
        return self._change("flush", {}).events

    def close(self) -> list[Event]:
        return self._change("close", {}).events

    def preview(self, text: str, speaker: str | None = None) -> list[Event]:
        """What would come if this were fed and flushed now; nothing is changed."""
        return self._client.send(calls.preview(self.id, {"text": text, "speaker": speaker}))

    def entities(self) -> list[EntityFinished]:
        """Those alive."""
        return self._client.send(calls.stream_entities(self.id))

    def state(self) -> bytes:
        return self._client.send(calls.stream_state(self.id))

    def remove(self) -> None:
        self._client.send(calls.remove_stream(self.id))

    @contextmanager
    def live(self) -> Iterator[Live]:
        """The stream's WebSocket, which hears whatever anybody feeds."""
        url = f"{self._client.url.replace('http', 'ws', 1)}/v1/streams/{self.id}/live"
        with connect(url, additional_headers=self._client.headers, max_size=None) as socket:
            yield Live(socket)

    def _change(self, what: str, body: Mapping[str, Any]) -> Fed:
        call = self._unsafe.next(what, body)
        try:
            try:
                fed = self._client.send(call)
            except ServerError as error:
                if error.status != CONFLICT:
                    raise
                told = self._client.send(calls.stream_status(self.id))
                for one in self._unsafe.again(told):
                    fed = self._client.send(one)
        except ServerError:
            self._unsafe.failed()
            raise
        return self._unsafe.done(fed)


class Live:
    """A WebSocket of a stream: send text, and take what comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    def feed(self, text: str, speaker: str | None = None) -> None:
        self._socket.send(json.dumps({"text": text, "speaker": speaker}))

    def flush(self) -> None:
        self._socket.send('{"flush": true}')

    def close(self) -> None:
        """End the stream; its last events are yet to come."""
        self._socket.send('{"close": true}')

    def __iter__(self) -> Iterator[Event | StreamStatus]:
        """Events as they become certain; after those of each call, where the stream stands."""
        for line in self._socket:
            values = json.loads(line)
            if values["event"] == "error":
                raise ServerError(values["error"], values["status"])
            yield StreamStatus.of(values) if values["event"] == "fed" else event_of(values)


class RemoteJob:
    """Made by `Client.submit`: a book that a server reads."""

    def __init__(self, client: Client, status: JobStatus) -> None:
        self._client, self.status = client, status
        self.id = status.id

    def refresh(self) -> JobStatus:
        self.status = self._client.send(calls.job_status(self.id))
        return self.status

    def progress(self) -> Iterator[JobStatus]:
        """The job again and again, until it has ended, also over a restart of the server."""
        while not self.refresh().ended:
            try:
                with self._client._lines(calls.job_progress(self.id)) as lines:
                    for line in lines:
                        self.status = JobStatus.of(json.loads(line.removeprefix("data:")))
                        yield self.status
            except httpx.TransportError:
                continue
        yield self.status

    def wait(self) -> JobStatus:
        """Until it is done; a ServerError if it has failed or was cancelled."""
        for status in self.progress():
            self.status = status
        if self.status.state != "done":
            raise ServerError(self.status.error or f"the job was {self.status.state}", CONFLICT)
        return self.status

    def entities(
        self,
        offset: int = 0,
        limit: int = 100,
        name: str | None = None,
        type: str | None = None,  # noqa: A002
    ) -> list[StoredEntity]:
        return self._client.send(calls.job_entities(self.id, offset, limit, name, type))

    def mentions(self, entity: int, offset: int = 0, limit: int = 1000) -> list[Mention]:
        return self._client.send(calls.entity_mentions(self.id, entity, offset, limit))

    def mentions_between(self, start: int, end: int, offset: int = 0, limit: int = 10_000) -> list[tuple[int, Mention]]:
        """Mentions in a part of the text, each with its entity."""
        return self._client.send(calls.job_mentions(self.id, start, end, offset, limit))

    def quotations(
        self, start: int = 0, end: int = calls.FAR, speaker: int | None = None, offset: int = 0, limit: int = 10_000
    ) -> list[Quotation]:
        """What is said in a part of the text, by all or by the entity of that number."""
        return self._client.send(calls.job_quotations(self.id, start, end, speaker, offset, limit))

    def text(self, start: int, end: int) -> str:
        return self._client.send(calls.job_text(self.id, start, end))

    def document(self) -> Document:
        """Words and sentences of the text, without an answer."""
        return self._client.send(calls.job_document(self.id))

    def save_store(self, path: str | Path) -> Path:
        """The store as a file, for `Store.open`."""
        path = Path(path)
        part = path.with_name(f"{path.name}.part")
        try:
            with self._client._streamed(calls.job_store(self.id)) as answer, part.open("wb") as file:
                for data in answer.iter_bytes():
                    file.write(data)
            part.replace(path)
        except httpx.TransportError as problem:
            raise calls.unreachable(self._client.url, problem) from problem
        finally:
            part.unlink(missing_ok=True)
        return path

    def end(self) -> str:
        """Cancel it, or if it has ended remove it; what it is then."""
        return self._client.send(calls.end_job(self.id))
