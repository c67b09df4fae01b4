"""How a server is set up, and what it refuses to start with."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.server.keys import Keys
from streamcoref.server.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """`data` is the folder for streams and jobs. `workers` are the threads that link, `jobs_at_once` those for books.

    `cors` are the origins whose pages may call the server; none may unless they are named.
    """

    data: Path
    host: str = "127.0.0.1"
    port: int = 8000
    keys: Keys = field(default_factory=Keys)
    open: bool = False
    cors: tuple[str, ...] = ()
    workers: int = 4
    jobs_at_once: int = 1
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        """Raise rather than give everybody in the network whatever others have fed."""
        if not is_loopback(self.host) and not self.keys and not self.open:
            raise StreamcorefError(
                f"{self.host} can be reached from other machines, and there are no keys", Remedy.KEYS_OR_OPEN
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may be anything
        return False
