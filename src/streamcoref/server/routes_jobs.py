"""`/v1/jobs`: books, read in the background."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Query, Request
from fastapi import Path as Path_
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, Response

from streamcoref.checked import describe_mistakes
from streamcoref.server import job_results
from streamcoref.server.answers import SERVER_SENT, Records, json_answer, record
from streamcoref.server.job_reading import STORE, TEXT, JobSettings, file_name, split_document, text_between
from streamcoref.server.jobs import CANCELLED, DONE, ENDED, FAILED, Job
from streamcoref.server.parts import LARGEST_PAGE, Called, Caller, Limit, Offset
from streamcoref.server.refusals import Refusal, cannot_save, unknown
from streamcoref.server.schemas import (
    EntityPage,
    JobAnswer,
    JobList,
    MentionPage,
    QuotationPage,
    Removed,
    SplitAnswer,
    TextPart,
)

LONGEST_NAME, LONGEST_PART = 300, 1_000_000
TELL_SECONDS, REASSURE_SECONDS = 0.25, 15.0
_ENDINGS = {DONE: "done", FAILED: "error", CANCELLED: "cancelled"}
router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
Place = Annotated[int, Query(ge=0, le=1 << 50, description="A place of the text, in characters.")]
Name = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Part of a name, or what a mention reads.")]
Type = Annotated[str | None, Query(max_length=LONGEST_NAME, description="A type, such as person.")]
Speaker = Annotated[int | None, Query(ge=0, le=1 << 50, description="The id of the entity that speaks.")]
_FILE = {"type": "string", "format": "binary"}
_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": _FILE}, "required": ["file"]},
        },
        "application/octet-stream": {"schema": _FILE, "example": "Anna saw the captain. He waved to her."},
    },
}


@router.post(
    "",
    summary="Begin a job",
    status_code=202,
    response_model=None,
    responses={202: {"model": JobAnswer}},
    openapi_extra={"requestBody": _BODY},
)
async def create(
    request: Request,
    caller: Caller,
    name: Annotated[str, Query(max_length=LONGEST_NAME, description="What to call the file: a label.")] = "",
    format: Annotated[str | None, Query(description="The file's format, if not to be recognised.")] = None,  # noqa: A002
    encoding: Annotated[str, Query(description="Of plain text.")] = "utf-8",
    errors: Annotated[str, Query(description="What to do with bad bytes: strict, replace or ignore.")] = "strict",
    options: Annotated[str, Query(description="Those of `ResolveOptions`, as JSON.")] = "{}",
) -> Response:
    """A file of any format that is read here, packed by gzip or not: as the field `file` of a form, or as the body.

    It is answered when the file has come; then it waits for its turn.
    """
    caller.service.work.refuse_if_draining()
    settings = _settings(format, encoding, errors, options)
    settings.check(caller.service.resolver)
    jobs = caller.service.jobs
    folder = jobs.new_folder(caller.owner)
    try:
        label, file = await _receive(request, folder, name)
        job = jobs.add(caller.owner, folder, file, label, settings)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return json_answer(request, job.values(), 202)


def _settings(format_name: str | None, encoding: str, errors: str, options: str) -> JobSettings:
    try:
        given: Any = json.loads(options)
        return JobSettings(format=format_name, encoding=encoding, errors=errors, options=given)
    except ValidationError as error:
        raise Refusal(422, describe_mistakes(error)) from None
    except (ValueError, RecursionError):
        raise Refusal(422, "options: this is no JSON object") from None


async def _receive(request: Request, folder: Path, name: str) -> tuple[str, str]:
    """The uploaded file on disk: its label, and what it is called there."""
    try:
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            label = name or "text"
            with _writing(folder / file_name(label)) as stream:
                async for chunk in request.stream():
                    stream.write(chunk)
                await asyncio.to_thread(_sync, stream)
            return label, file_name(label)
        async with request.form(max_files=1, max_fields=10) as form:
            upload = form.get("file")
            if not isinstance(upload, UploadFile):
                raise Refusal(422, "there is no field called file with a file in it")
            label = (name or upload.filename or "text")[:LONGEST_NAME]
            with _writing(folder / file_name(label)) as stream:
                while chunk := await upload.read(1 << 20):
                    stream.write(chunk)
                await asyncio.to_thread(_sync, stream)
            return label, file_name(label)
    except OSError as error:
        raise cannot_save(error) from error


def _writing(path: Path) -> BinaryIO:
    return path.open("xb")


def _sync(stream: BinaryIO) -> None:
    """In a thread: of a large file it takes its time."""
    stream.flush()
    os.fsync(stream.fileno())


@router.get("", summary="All jobs", response_model=None, responses={200: {"model": JobList}})
async def jobs(request: Request, caller: Caller) -> Response:
    """Those of this key, the oldest first."""
    return json_answer(request, {"jobs": [job.values() for job in caller.service.jobs.all(caller.owner)]})


@router.get("/{job}", summary="How far a job is", response_model=None, responses={200: {"model": JobAnswer}})
async def info(job: str, request: Request, caller: Caller) -> Response:
    return json_answer(request, _job(caller, job).values())


@router.get(
    "/{job}/progress",
    summary="Follow a job",
    response_class=Response,
    responses={200: {"content": {SERVER_SENT: {"schema": {"type": "string"}}}}},
)
async def progress(job: str, caller: Caller) -> Response:
    """Server-sent events: the job as it goes on, `{"event": "progress", ...}`, and its end: done, error, cancelled."""
    return Records(_following(caller, _job(caller, job)), SERVER_SENT, caller.service.limits.stall_seconds)


async def _following(caller: Called, job: Job) -> AsyncIterator[str]:
    while job.state not in ENDED and not caller.service.stopping.is_set():
        changed = job.changed
        yield record("progress", **job.values())
        try:
            async with asyncio.timeout(REASSURE_SECONDS):
                await changed.wait()
        except TimeoutError:
            continue  # told again, so that nobody in between thinks the connection dead
        await asyncio.sleep(TELL_SECONDS)
    if job.state in ENDED:
        yield record(_ENDINGS[job.state], **job.values())


@router.get("/{job}/entities", summary="Entities", response_model=None, responses={200: {"model": EntityPage}})
async def entities(
    job: str,
    request: Request,
    caller: Caller,
    offset: Offset = 0,
    limit: Limit = 100,
    name: Name = None,
    type: Type = None,  # noqa: A002
) -> Response:
    """The entities with the most mentions first; with a name, those called so in part, or with a mention so; with a
    type, such as person, those of it."""
    look = partial(job_results.entities, _store(caller, job), offset, limit, name, type)
    return json_answer(request, await _looked(caller, look))


@router.get(
    "/{job}/entities/{entity}/mentions",
    summary="Mentions of an entity",
    response_model=None,
    responses={200: {"model": MentionPage}},
)
async def entity_mentions(
    job: str,
    entity: Annotated[int, Path_(ge=0, le=1 << 50)],
    request: Request,
    caller: Caller,
    offset: Offset = 0,
    limit: Limit = 1000,
) -> Response:
    path = _store(caller, job)
    return json_answer(request, await _looked(caller, partial(job_results.mentions_of, path, entity, offset, limit)))


@router.get(
    "/{job}/mentions",
    summary="Mentions in a part of the text",
    response_model=None,
    responses={200: {"model": MentionPage}},
)
async def mentions(
    job: str,
    request: Request,
    caller: Caller,
    start: Place = 0,
    end: Place = 1 << 50,
    offset: Offset = 0,
    limit: Limit = LARGEST_PAGE,
) -> Response:
    """All that have a character between `start` and `end`."""
    path = _store(caller, job)
    look = partial(job_results.mentions_between, path, start, end, offset, limit)
    return json_answer(request, await _looked(caller, look))


@router.get(
    "/{job}/quotations",
    summary="What is said in a part of the text",
    response_model=None,
    responses={200: {"model": QuotationPage}},
)
async def quotations(
    job: str,
    request: Request,
    caller: Caller,
    start: Place = 0,
    end: Place = 1 << 50,
    speaker: Speaker = None,
    offset: Offset = 0,
    limit: Limit = LARGEST_PAGE,
) -> Response:
    """All that have a character between `start` and `end`; with a `speaker`, what that entity says."""
    path = _store(caller, job)
    look = partial(job_results.quotations, path, start, end, speaker, offset, limit)
    return json_answer(request, await _looked(caller, look))


@router.get("/{job}/text", summary="A part of the text", response_model=None, responses={200: {"model": TextPart}})
async def text(job: str, request: Request, caller: Caller, start: Place = 0, end: Place = LONGEST_PART) -> Response:
    """The characters from `start` to `end` of the text that is read; at most a million at once."""
    path = caller.service.jobs.path(_job(caller, job), TEXT)
    end = min(end, start + LONGEST_PART)
    part = await _looked(caller, lambda: text_between(path, start, end) if path.exists() else "")
    return json_answer(request, {"start": start, "end": start + len(part), "text": part})


@router.get(
    "/{job}/record", summary="Words and sentences", response_model=None, responses={200: {"model": SplitAnswer}}
)
async def split_record(job: str, request: Request, caller: Caller) -> Response:
    """The text as it was split, as the format `jsonlines` has it on a line; without an answer."""
    found = _job(caller, job)
    if found.state == FAILED:
        raise Refusal(409, "this job has failed: its file could not be read")
    folder = caller.service.jobs.path(found, ".")
    split = partial(split_document, folder, found.file, found.settings, found.name)
    return json_answer(request, await _looked(caller, lambda: split().to_dict()))


@router.get(
    "/{job}/store",
    summary="The store",
    response_class=Response,
    responses={200: {"content": {"application/vnd.sqlite3": {"schema": _FILE}}, "description": "An SQLite file."}},
)
async def store(job: str, caller: Caller) -> Response:
    """Everything that was found, as one file; when the job is done."""
    found = _job(caller, job)
    if found.state != DONE:
        raise Refusal(409, f"this job is {found.state}; its store can be had when it is done")
    path = caller.service.jobs.path(found, STORE)
    return FileResponse(path, media_type="application/vnd.sqlite3", filename=f"{found.id}.sqlite")


@router.delete("/{job}", summary="Cancel or remove a job", response_model=None, responses={200: {"model": Removed}})
async def remove(job: str, request: Request, caller: Caller) -> Response:
    """One that waits or is being read is cancelled; one that is done, has failed or was cancelled is removed."""
    found = _job(caller, job)
    return json_answer(request, {"id": job, "state": caller.service.jobs.remove(found)})


def _job(caller: Called, id_: str) -> Job:
    return caller.service.jobs.get(caller.owner, id_)


def _store(caller: Called, id_: str) -> Path:
    return caller.service.jobs.path(_job(caller, id_), STORE)


async def _looked(caller: Called, look: Any) -> Any:
    with caller.service.work.place():
        try:
            return await caller.service.work.in_time(caller.service.work.run(look))
        except FileNotFoundError:  # removed meanwhile
            raise unknown("job") from None
