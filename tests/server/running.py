"""A real server on loopback: in a thread of this process, or as the command in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from streamcoref.resolver import Resolver
from streamcoref.server import Limits, ServerSettings
from streamcoref.server.run import make_server
from tests import toy_resolver

PATIENCE = 300.0  # seconds, for whatever must come in the end: a machine may be busy with other things
STORY = (
    "Anna saw the old captain. He had left the ship in the harbour, and she asked him why. "
    "The keeper of the ship said that it was late. He gave her the letter. She read it to the captain.\n\n"
)


@dataclass(frozen=True)
class Running:
    url: str
    server: uvicorn.Server

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)


@contextmanager
def running(
    data: Path, limits: dict[str, Any] | None = None, resolver: Resolver | None = None, **settings: Any
) -> Iterator[Running]:
    """A server with the toy model, or another; everything is saved when the block ends."""
    chosen = ServerSettings(data=data, port=0, limits=Limits(**(limits or {})), **settings)
    server = make_server(resolver or toy_resolver.resolver(), chosen)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until = time.monotonic() + PATIENCE
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < until
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Running(f"http://127.0.0.1:{port}", server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


# A process that has torch loaded and forks: one that takes seconds to start cannot be killed often in a test.
WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(["tests.cli.warm_start"])


def _serve(log: Path, arguments: list[str]) -> None:
    """The command, in a process of its own."""
    with log.open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 2)
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["streamcoref", "serve", *arguments]
    from streamcoref.cli import main

    main()


class Command:
    """`streamcoref serve` in a process that can be killed."""

    def __init__(self, model: Path, data: Path, *arguments: object) -> None:
        self.log = data.with_name(f"{data.name}.{time.monotonic_ns()}.log")
        given = ["--port", "0", "--model", str(model), "--data", str(data), *map(str, arguments)]
        self.process = WARM.Process(target=_serve, args=(self.log, given))
        self.process.start()
        self.url = self._url()

    def _url(self) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            log = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
            if said := re.search(r"http://[\d.]+:\d+", log):
                return said.group()
            assert self.process.is_alive(), log
            time.sleep(0.02)
        raise AssertionError("the server did not start")

    def client(self) -> httpx.Client:
        """For as many threads as like to call at once."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE, limits=httpx.Limits(max_connections=None))

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def terminate(self, number: int = signal.SIGTERM) -> int | None:
        """Its exit status."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)
        self.process.join(PATIENCE)
        return self.process.exitcode


def wait_for(client: httpx.Client, job: str, *states: str) -> dict[str, Any]:
    """The job when it is in one of these states."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        told: dict[str, Any] = client.get(f"/v1/jobs/{job}").json()
        if told["state"] in states:
            return told
        time.sleep(0.02)
    raise AssertionError(f"the job is {told}")
