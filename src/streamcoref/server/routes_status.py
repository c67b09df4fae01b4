"""How the server is, and what it can do: for those who run it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from streamcoref.server.answers import json_answer
from streamcoref.server.docs_page import docs_page
from streamcoref.server.page_files import HEADERS
from streamcoref.server.schemas import Healthy, Ready
from streamcoref.server.service import Service

router = APIRouter(tags=["status"])


@router.get("/healthz", summary="Is it alive?", response_model=None, responses={200: {"model": Healthy}})
async def healthz(request: Request) -> Response:
    """Whether the process answers at all."""
    return json_answer(request, {"healthy": True})


@router.get("/readyz", summary="May it be asked?", response_model=None, responses={200: {"model": Ready}})
async def readyz(request: Request) -> Response:
    """Whether requests should be sent here: not while it stops, nor while it cannot save."""
    service: Service = request.app.state.service
    reason = service.unready
    return json_answer(request, {"ready": reason is None, "reason": reason}, 200 if reason is None else 503)


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    service: Service = request.app.state.service
    return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    return Response(docs_page(request.app.openapi()), headers={**HEADERS, "Content-Type": "text/html; charset=utf-8"})
