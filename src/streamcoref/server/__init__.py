"""The server: resolve, streams, jobs and the page over HTTP and WebSockets. The extra `server`; docs/serving.md."""

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import python_multipart  # noqa: F401
    import uvicorn  # noqa: F401
    import websockets  # noqa: F401
except ImportError as error:
    raise ImportError(f"{error}; the server is an extra: pip install 'streamcoref[server]'") from error

from streamcoref.server.app import create_app
from streamcoref.server.limits import Limits
from streamcoref.server.settings import ServerSettings

__all__ = ["Limits", "ServerSettings", "create_app"]
