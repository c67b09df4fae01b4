"""What a client remembers of a stream: the calls that a killed server would have lost, to make them again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from streamcoref.client import calls
from streamcoref.client.calls import Call
from streamcoref.client.values import Fed, ServerError, StreamStatus

CONFLICT = 409
PASSING = (429, 502, 503, 504)  # a server that is busy, stopping or being started again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries


class UnsafeCalls:
    """Calls are numbered, so that none is done twice. A server saves every few seconds: there are never many."""

    def __init__(self, status: StreamStatus) -> None:
        self.status = status
        self._kept: deque[tuple[int, str, Mapping[str, Any]]] = deque()

    def next(self, what: str, body: Mapping[str, Any]) -> Call[Fed]:
        """A call that was not made before."""
        number = self.status.calls + 1
        self._kept.append((number, what, body))
        return calls.change_stream(self.status.id, what, body, number)

    def again(self, told: StreamStatus) -> list[Call[Fed]]:
        """The calls that a server which stands there has not had, the latest included; or the latest alone, whose
        answer it knows."""
        known = [kept for kept in self._kept if kept[0] > told.calls] or [self._kept[-1]]
        return [calls.change_stream(self.status.id, what, body, number) for number, what, body in known]

    def done(self, fed: Fed) -> Fed:
        self.status = fed.status
        while self._kept and self._kept[0][0] <= fed.status.safe_calls:
            self._kept.popleft()
        return fed

    def failed(self) -> None:
        """The latest call was refused and has changed nothing."""
        self._kept.pop()


def pause(error: ServerError | None, tries: int, until: float) -> float:
    """Seconds until the next try: as the server says, or twice as long each time, but not beyond the last moment."""
    told = None if error is None else error.retry_after
    seconds = min(FIRST_PAUSE * 2**tries, LONGEST_PAUSE) if told is None else told
    return max(0.0, min(seconds, until - time.monotonic()))
