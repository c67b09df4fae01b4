"""What a server gives to its callers at most; every one of these has an answer that says so."""

from __future__ import annotations

from streamcoref.checked import Options


class Limits(Options):
    """All of them, with the values that a server has unless it is told otherwise.

    - `body_bytes`: of a request, unpacked; `text_characters`: of all texts in it; `file_bytes`: of a job's file, and
      four times as many when it is unpacked
    - `batch_texts`: in one request
    - `streams_per_key`: open ones; `jobs_per_key`: those that wait or are being read
    - `queue`: calls that are being worked on or wait for it; `connections`: calls and WebSockets at once
    - `request_seconds`: to answer in; `stall_seconds`: for a caller who sends or takes nothing
    - `frames_behind`: answers that wait for a slow reader of a WebSocket; together no longer than a request may be
    - `streams_in_memory`: the others are on disk; `idle_seconds`: after which a stream leaves memory
    - `save_seconds`: how old the last save of a stream that goes on may be
    - `closed_seconds`: for which a closed stream can still be looked at
    """

    body_bytes: int = 16 << 20
    text_characters: int = 2_000_000
    file_bytes: int = 256 << 20
    batch_texts: int = 1000
    streams_per_key: int = 10_000
    jobs_per_key: int = 100
    queue: int = 512
    connections: int = 2000
    request_seconds: float = 120.0
    stall_seconds: float = 30.0
    frames_behind: int = 64
    streams_in_memory: int = 256
    idle_seconds: float = 60.0
    save_seconds: float = 5.0
    closed_seconds: float = 86_400.0
