"""`streamcoref serve`: the model behind an API, and a page to read on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamcoref.cli.settings import PrecisionOption
from streamcoref.errors import StreamcorefError

_MEGABYTE = 1 << 20


def serve(
    data: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where streams and jobs are kept; made if it is not there.")
    ] = Path("streamcoref-data"),
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="Port; 0 takes a free one.")] = 8000,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="A model's name, folder or hub name; else the bundled one.", show_default=False
        ),
    ] = None,
    device: Annotated[str, typer.Option(metavar="DEVICE", help="cpu, cuda, or auto.")] = "cpu",
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="CPU threads for the model.", show_default=False)
    ] = None,
    precision: PrecisionOption = "float32",
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keys that callers must have, one a line.", show_default=False),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Let everybody in who can reach the address.")] = False,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Origin whose pages may call, as https://example.org.", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Calls that are worked on at once.")] = 4,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Jobs that are read at once.")] = 1,
    max_body: Annotated[int, typer.Option(min=1, metavar="MB", help="Largest request.")] = 16,
    max_text: Annotated[int, typer.Option(min=1, metavar="N", help="Characters of one request.")] = 2_000_000,
    max_file: Annotated[int, typer.Option(min=1, metavar="MB", help="Largest file of a job.")] = 256,
    max_streams: Annotated[int, typer.Option(min=1, metavar="N", help="Open streams of one key.")] = 10_000,
    in_memory: Annotated[int, typer.Option(min=1, metavar="N", help="Streams held in memory.")] = 256,
    queue: Annotated[int, typer.Option(min=1, metavar="N", help="Calls that may wait.")] = 512,
    connections: Annotated[
        int, typer.Option(min=1, metavar="N", help="Calls and WebSockets that may be open at once.")
    ] = 2000,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Longest time for a request.")] = 120.0,
) -> None:
    """Serve the model over HTTP and WebSockets, with a page to read on.

    The page is at http://HOST:PORT/, the description of the API at /docs.
    Streams and jobs are kept in the folder --data, so that a server that is
    started again goes on with them. SIGTERM and Ctrl-C save before the end.

    Off loopback, serve starts only with --key-file, or with --open.
    """
    from streamcoref._process_memory import share_one_heap

    try:
        from streamcoref.server import Limits, ServerSettings
    except ImportError as error:
        raise StreamcorefError(str(error)) from None
    from streamcoref.server.keys import Keys, read_keys

    settings = ServerSettings(
        data=data,
        host=host,
        port=port,
        keys=Keys() if key_file is None else read_keys(key_file),
        open=open_,
        cors=tuple(cors or ()),
        workers=workers,
        jobs_at_once=jobs,
        limits=Limits(
            body_bytes=max_body * _MEGABYTE,
            text_characters=max_text,
            file_bytes=max_file * _MEGABYTE,
            streams_per_key=max_streams,
            streams_in_memory=in_memory,
            queue=queue,
            connections=connections,
            request_seconds=timeout,
        ),
    )
    settings.check()  # before the model is loaded, which takes time
    share_one_heap()
    from streamcoref.resolver import load
    from streamcoref.server.run import serve as run

    run(load(model, device=device, threads=threads, precision=precision), settings)
