"""A hub on loopback: as much of the Hugging Face hub's interface as it takes to put a model there and get it back."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_of_a_test"


@dataclass
class Repository:
    private: bool
    branches: dict[str, str] = field(default_factory=dict)  # names to commits
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)  # the files of each
    messages: list[str] = field(default_factory=list)

    def commit(self, branch: str, message: str, changed: dict[str, bytes]) -> str:
        files = {**self.commits.get(self.branches.get(branch, ""), {}), **changed}
        name = hashlib.sha1(repr(sorted(files.items())).encode() + message.encode()).hexdigest()
        self.commits[name], self.branches[branch] = files, name
        self.messages.append(message)
        return name

    def find(self, revision: str) -> str:
        return self.branches.get(revision, revision)


class FakeHub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, Repository] = {}
        self.requests: list[str] = []  # method and path of each
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def running() -> Iterator[FakeHub]:
    hub = FakeHub()
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeHub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self._path()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer({"error": "Invalid credentials"}, 401)
        elif path == "/api/repos/create":
            self._create(json.loads(body))
        elif path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(branch|preupload|commit)/(.+)", path):
            name, action, revision = found.groups()
            getattr(self, f"_{action}")(name, self.server.repositories[name], revision, body)
        else:
            self._answer({"error": f"nothing at {path}"}, 404)

    def do_GET(self) -> None:
        path = self._path()
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", path):
            name, kind, revision = found.groups()
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._file(*found.groups())
        else:
            return self._answer({"error": f"nothing at {path}"}, 404)
        repository = self.server.repositories.get(name)
        commit = None if repository is None else repository.find(revision or "main")
        if repository is None or commit not in repository.commits:
            code = "RepoNotFound" if repository is None else "RevisionNotFound"
            return self._answer({"error": "not found"}, 404, {"X-Error-Code": code})
        files = repository.commits[commit]
        if kind == "tree":
            return self._answer(
                [{"type": "file", "path": p, "size": len(c), "oid": _digest(c)} for p, c in sorted(files.items())]
            )
        siblings = [{"rfilename": file} for file in sorted(files)]
        return self._answer({"id": name, "sha": commit, "private": repository.private, "siblings": siblings})

    do_HEAD = do_GET  # noqa: N815

    def _create(self, wanted: dict[str, Any]) -> None:
        name = f"{wanted.get('organization') or 'tester'}/{wanted['name']}"
        if name in self.server.repositories:
            return self._answer({"error": "it is there", "url": f"{self.server.url}/{name}"}, 409)
        private = wanted.get("private") or wanted.get("visibility") == "private"
        repository = self.server.repositories[name] = Repository(bool(private))
        repository.commit("main", "initial commit", {".gitattributes": b""})
        return self._answer({"url": f"{self.server.url}/{name}", "id": name})

    def _branch(self, _name: str, repository: Repository, revision: str, _body: bytes) -> None:
        if revision in repository.branches:
            return self._answer({"error": "it is there"}, 409)
        repository.branches[revision] = repository.branches["main"]
        return self._answer({})

    def _preupload(self, _name: str, _repository: Repository, _revision: str, body: bytes) -> None:
        """Every file goes into the commit itself: stores of large files are not what is tested here."""
        paths = [file["path"] for file in json.loads(body)["files"]]
        self._answer({"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]})

    def _commit(self, name: str, repository: Repository, revision: str, body: bytes) -> None:
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        (header,) = (line["value"] for line in lines if line["key"] == "header")
        files = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines if line["key"] == "file"
        }
        commit = repository.commit(revision, header["summary"], files)
        self._answer({"success": True, "commitOid": commit, "commitUrl": f"{self.server.url}/{name}/commit/{commit}"})

    def _file(self, name: str, revision: str, path: str) -> None:
        repository = self.server.repositories[name]
        commit = repository.find(revision)
        content = repository.commits[commit][path]
        self._send(content, 200, {"ETag": f'"{_digest(content)}"', "X-Repo-Commit": commit})

    def _path(self) -> str:
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append(f"{self.command} {path}")
        return path

    def _answer(self, values: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(json.dumps(values).encode(), status, {"Content-Type": "application/json", **(headers or {})})

    def _send(self, content: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _digest(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
