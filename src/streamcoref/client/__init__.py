"""A client of `streamcoref serve`, for programs that wait and for those that do not. The extra `client`."""

try:
    import httpx  # noqa: F401
    import websockets  # noqa: F401
except ImportError as error:
    raise ImportError(f"{error}; the client is an extra: pip install 'streamcoref[client]'") from error

from streamcoref.client.asynchronous import AsyncClient, AsyncJob, AsyncLive, AsyncStream
from streamcoref.client.synchronous import Client, Live, RemoteJob, RemoteStream
from streamcoref.client.values import Fed, JobStatus, Resolved, ServerError, StreamStatus

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "AsyncLive",
    "AsyncStream",
    "Client",
    "Fed",
    "JobStatus",
    "Live",
    "RemoteJob",
    "RemoteStream",
    "Resolved",
    "ServerError",
    "StreamStatus",
]
