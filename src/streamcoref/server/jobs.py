"""Jobs: books that are read in the background into stores. They survive a restart and go on where they were."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamcoref.errors import Remedy, StoppedError, StreamcorefError
from streamcoref.progress import ReadingProgress
from streamcoref.server.database import ServerDatabase
from streamcoref.server.job_reading import STORE, JobSettings, read_job
from streamcoref.server.metrics import Metrics
from streamcoref.server.refusals import Refusal, cannot_save, sentence, unknown
from streamcoref.server.settings import ServerSettings
from streamcoref.store import Store

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

QUEUED, READING, DONE, FAILED, CANCELLED = "queued", "reading", "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
TRY_AGAIN_SECONDS = 10.0  # for a job that could not be saved
_log = logging.getLogger("streamcoref.server")


@dataclass(slots=True)
class Job:
    """A job as it is told of. `name` is what its caller calls the file, and nothing but a label."""

    id: str
    owner: str
    name: str
    file: str
    settings: JobSettings
    state: str
    error: str | None
    progress: ReadingProgress
    made: float
    stopping: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # for those who follow it; replaced when it is set

    def values(self) -> dict[str, Any]:
        told = {"id": self.id, "name": self.name, "state": self.state, "error": self.error}
        return told | asdict(self.progress) | {"made": self.made}


class JobTable:
    """The jobs of all callers, in the order in which they came."""

    def __init__(
        self, resolver: Resolver, database: ServerDatabase, settings: ServerSettings, metrics: Metrics
    ) -> None:
        self._resolver, self._database, self._limits, self._metrics = resolver, database, settings.limits, metrics
        self.folder = settings.data / "jobs"
        self.folder.mkdir(exist_ok=True)
        self._pool = ThreadPoolExecutor(settings.jobs_at_once, "job")
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._jobs: dict[str, Job] = {}

    @property
    def unfinished(self) -> int:
        return sum(job.state not in ENDED for job in list(self._jobs.values()))

    def start(self) -> None:
        """Take up what was there before, and remove what belongs to nobody: uploads that were never complete."""
        for row in self._database.rows("SELECT * FROM jobs ORDER BY made, id"):
            settings = JobSettings.model_validate_json(row["settings"])
            progress = ReadingProgress(row["characters"], row["characters_in_all"], row["words"], row["entities"])
            job = Job(
                row["id"],
                row["owner"],
                row["name"],
                row["file"],
                settings,
                row["state"],
                row["error"],
                progress,
                row["made"],
            )
            self._jobs[job.id] = job
            if job.state not in ENDED:
                job.state, job.progress = QUEUED, replace(progress, **self._saved(job))
                self._begin(job)
        for folder in self.folder.iterdir():
            if folder.name not in self._jobs:
                shutil.rmtree(folder, ignore_errors=True)

    def _saved(self, job: Job) -> dict[str, int]:
        """How far a job is by its store."""
        with contextlib.suppress(StreamcorefError), Store.open(self.path(job, STORE)) as store:
            return {"characters": store.position.characters, "words": store.position.words}
        return {}

    def new_folder(self, owner: str) -> Path:
        """Where to put the file of a job to come; its name is the job's id."""
        self._refuse_if_full(owner)
        folder = self.folder / secrets.token_hex(16)
        try:
            folder.mkdir()
        except OSError as error:
            raise cannot_save(error) from error
        return folder

    def _refuse_if_full(self, owner: str) -> None:
        waiting = sum(job.owner == owner and job.state not in ENDED for job in self._jobs.values())
        if waiting >= self._limits.jobs_per_key:
            raise Refusal(429, f"{waiting} jobs are waiting already; let some be done first", retry_after=60)

    def add(self, owner: str, folder: Path, file: str, name: str, settings: JobSettings) -> Job:
        """A job for a file that is complete."""
        self._refuse_if_full(owner)  # others may have come while this one was sent
        job = Job(folder.name, owner, name, file, settings, QUEUED, None, ReadingProgress(0, None, 0, 0), time.time())
        self._database.write(
            f"INSERT INTO jobs VALUES (?{', ?' * 11})",
            (job.id, owner, _storable(name), file, settings.model_dump_json(), QUEUED, None, 0, None, 0, 0, job.made),
        )
        self._jobs[job.id] = job
        self._begin(job)
        return job

    def get(self, owner: str, id_: str) -> Job:
        job = self._jobs.get(id_)
        if job is None or job.owner != owner:
            raise unknown("job")
        return job

    def all(self, owner: str) -> list[Job]:
        return [job for job in self._jobs.values() if job.owner == owner]

    def path(self, job: Job, name: str) -> Path:
        return self.folder / job.id / name

    def remove(self, job: Job) -> str:
        """Cancel a job that is not done; remove one that is, or was cancelled. What it is then."""
        if job.state not in ENDED:
            job.stopping = True
            self._change(job, CANCELLED)
            return CANCELLED
        self._database.write("DELETE FROM jobs WHERE id = ?", (job.id,))
        del self._jobs[job.id]
        shutil.rmtree(self.folder / job.id, ignore_errors=True)
        return "removed"

    def stop(self) -> None:
        """Save all jobs where they are; they go on when the server is back."""
        self._stopping = True
        for job in self._jobs.values():
            _tell(job)

    async def ended(self) -> None:
        if self._running:
            await asyncio.wait(self._running)
        await asyncio.to_thread(self._pool.shutdown)

    def _begin(self, job: Job) -> None:
        task = asyncio.create_task(self._run(job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, job: Job) -> None:
        """Read a job to its end. One that cannot be saved waits until it can."""
        loop = asyncio.get_running_loop()
        while job.state not in ENDED and not self._stopping:
            again = await loop.run_in_executor(self._pool, self._read, job, loop)
            if not again:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TRY_AGAIN_SECONDS):
                    while not (self._stopping or job.stopping):
                        await job.changed.wait()

    def _read(self, job: Job, loop: asyncio.AbstractEventLoop) -> bool:
        """In a thread; whether to try again later."""

        def change(state: str, error: str | None = None) -> None:
            asyncio.run_coroutine_threadsafe(self._changed(job, state, error), loop).result()

        def on_progress(progress: ReadingProgress) -> None:
            self._metrics.words.inc(max(0, progress.words - job.progress.words))
            job.progress = progress
            loop.call_soon_threadsafe(_tell, job)

        if self._stopping or job.stopping:
            return False
        change(READING)
        try:
            job.progress = read_job(
                self._resolver,
                self.folder / job.id,
                job.file,
                job.settings,
                4 * self._limits.file_bytes,
                on_progress=on_progress,
                should_stop=lambda: self._stopping or job.stopping,
            )
        except StoppedError:
            return False
        except StreamcorefError as error:
            # A path of this machine is nobody's business: the caller knows the file by its name.
            said = sentence(error)
            for path in (self.path(job, job.file), self.path(job, STORE), self.folder / job.id):
                said = said.replace(str(path.resolve()), job.name).replace(str(path), job.name)
            later = error.remedy in (Remedy.MAKE_ROOM, Remedy.MEND_AND_GO_ON)
            change(QUEUED if later else FAILED, said)
            return later
        except OSError as error:
            change(QUEUED, f"the server cannot save just now: {error.strerror}")
            return True
        except Exception as error:
            _log.error("a job failed", extra={"values": {"job": job.id, "error": type(error).__name__}})
            change(FAILED, f"the file could not be read ({type(error).__name__})")
            return False
        change(DONE)
        return False

    async def _changed(self, job: Job, state: str, error: str | None) -> None:
        if not (job.state == CANCELLED or job.id not in self._jobs):
            self._change(job, state, error)

    def _change(self, job: Job, state: str, error: str | None = None) -> None:
        job.state, job.error = state, error
        how_far = job.progress
        try:
            self._database.write(
                "UPDATE jobs SET (state, error, characters, characters_in_all, words, entities) = (?, ?, ?, ?, ?, ?)"
                " WHERE id = ?",
                (state, error and _storable(error), *astuple(how_far), job.id),
            )
        except sqlite3.Error as trouble:  # told all the same; after a restart it is read again from its last save
            _log.error("a job could not be noted", extra={"values": {"job": job.id, "error": str(trouble)}})
        _tell(job)


def _tell(job: Job) -> None:
    """Wake those who follow a job."""
    job.changed.set()
    job.changed = asyncio.Event()


def _storable(text: str) -> str:
    """Without halves of characters, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode()
