"""What every route is given: the service, and whose request it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer

from streamcoref.server.service import Service

LARGEST_PAGE = 10_000
# Of lists that come page by page.
Offset = Annotated[int, Query(ge=0, le=1 << 50, description="How many to leave out before the first.")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="How many to give at most.")]
# Only for the description: the gate has looked at the key before.
_bearer = HTTPBearer(auto_error=False, description="A key of the server's key file; not needed where there are none.")


@dataclass(frozen=True, slots=True)
class Called:
    service: Service
    owner: str


def _caller(request: Request, _: Annotated[object, Depends(_bearer)]) -> Called:
    return Called(request.app.state.service, request.scope["owner"])


Caller = Annotated[Called, Depends(_caller)]
