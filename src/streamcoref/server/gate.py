"""Who is let in: where there are keys, those with one; where there are none, pages of this server alone."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from streamcoref.server.errors_out import refuse
from streamcoref.server.keys import EVERYBODY
from streamcoref.server.refusals import Refusal
from streamcoref.server.settings import ServerSettings, is_loopback

GUARDED = "/v1/"  # the rest is the same for everybody
KEY_PROTOCOL = "key."  # before the key in base64url among the protocols of a WebSocket: browsers can send no header
_ASKING = ("GET", "HEAD", "OPTIONS")


class Gate:
    """Knows the owner of each request by its key, and writes it into the scope.

    Without keys, a page of somebody else in a browser on this machine could call us, or be called by our name. So
    requests that change something must not come from another origin, and on loopback the name must be that of
    loopback. Where there are keys, such a page has none.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            scope["owner"] = self._owner(scope, Headers(scope=scope))
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _owner(self, scope: Scope, headers: Headers) -> str:
        if not self._settings.keys:
            self._check_origin(scope, headers)
            return EVERYBODY
        if not scope["path"].startswith(GUARDED):
            return EVERYBODY
        owner = self._settings.keys.owner(_key(scope, headers))
        if owner is None:
            raise Refusal(401, "there is no such key; send one as Authorization: Bearer KEY")
        return owner

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if is_loopback(self._settings.host) and not is_loopback(_name(f"//{host}")):
            raise Refusal(403, "this server is for this machine alone; call it localhost")
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in _ASKING
        if origin is None or not changes or origin in self._settings.cors:
            return
        if urlsplit(origin).netloc.lower() != host.lower():
            raise Refusal(403, "pages of other servers may not call this one")


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _key(scope: Scope, headers: Headers) -> str | None:
    kind, _, key = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return key.strip()
    for protocol in scope.get("subprotocols", ()):
        if protocol.startswith(KEY_PROTOCOL):
            text = protocol.removeprefix(KEY_PROTOCOL)
            try:
                return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
            except (binascii.Error, ValueError):
                return None
    return None
