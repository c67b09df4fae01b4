"""The files of the container: what would not build or not start can be found without docker."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("fastapi", reason="the extra server is not installed")

import httpx

from streamcoref.server import Limits
from tests import toy_resolver
from tests.server.running import Command, running

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
KEY = "a-key-of-the-tests-that-nobody-else-has"

Instruction = tuple[str, str]


def stages() -> list[list[Instruction]]:
    """The Dockerfile: of each image, the instructions with what they are given."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    found: list[list[Instruction]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, given = line.partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append((name, given.strip()))
    return found


BUILD, IMAGE = stages()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def given(stage: list[Instruction], name: str) -> list[str]:
    return [value for instruction, value in stage if instruction == name]


def copied() -> list[str]:
    """What the build takes from the repository."""
    return [source for value in given(BUILD, "COPY") for source in shlex.split(value)[:-1]]


def health_check() -> list[str]:
    (check,) = given(IMAGE, "HEALTHCHECK")
    command: list[str] = json.loads(check.partition("CMD")[2])
    return command


def entry_point() -> list[str]:
    (command,) = given(IMAGE, "ENTRYPOINT")
    words: list[str] = json.loads(command)
    return words


def test_what_is_copied_is_there_and_not_ignored() -> None:
    first, *others = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert first == "*"  # nothing gets into an image but what is named
    assert copied()
    for source in copied():
        assert (ROOT / source).exists(), source
        assert f"!{source}" in others, source


def test_the_build_installs_what_is_tested() -> None:
    """The torch of the constraints, once, and the extras of a server that reads books."""
    installed = [value for value in given(BUILD, "RUN") if value.startswith("pip install")]
    assert len(installed) == 2
    pattern = re.search(r"grep '([^']+)' constraints\.txt", installed[0])
    assert pattern is not None
    assert len([line for line in CONSTRAINTS if re.search(pattern[1], line)]) == 1
    assert "--constraint constraints.txt" in installed[1]
    assert '".[server,books]"' in installed[1]
    assert given(BUILD, "FROM") == [f"{given(IMAGE, 'FROM')[0]} AS build"]


@pytest.mark.slow
def test_a_wheel_can_be_made_of_what_is_copied(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install 'streamcoref[dev]'")
    pytest.importorskip("pip", reason="pip is not installed")
    source = tmp_path / "source"
    source.mkdir()
    for name in copied():
        (source / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    made = subprocess.run([*command, "-w", tmp_path, source], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size > 1 << 20  # the bundled model is in it


def test_nobody_is_root_in_it() -> None:
    names = [name for name, _ in IMAGE]
    (user,) = given(IMAGE, "USER")
    (made,) = given(IMAGE, "RUN")
    assert re.search(rf"useradd --system --uid [1-9]\d+ --create-home {user} &&", made)
    assert f"install -d -o {user} /data" in made
    assert names.index("RUN") < names.index("USER") < names.index("ENTRYPOINT")
    assert "RUN" not in names[names.index("USER") :]


def test_the_health_check_tells_a_server_that_can_be_used(tmp_path: Path) -> None:
    program, *arguments = health_check()
    assert program == "python"

    def asked(port: str) -> int:
        command = [sys.executable, *(argument.replace(":8000", f":{port}") for argument in arguments)]
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode

    with running(tmp_path / "data") as server:
        port = server.url.rpartition(":")[2]
        assert asked(port) == 0
        server.server.config.app.state.service.stopping.set()  # type: ignore[union-attr]
        assert asked(port) != 0  # told to stop: it answers 503
    assert asked(port) != 0


@pytest.mark.slow
def test_the_entry_point_serves_those_who_have_a_key(tmp_path: Path) -> None:
    """Started as the image starts it with the words of compose, but for the places of its files."""
    command = [*entry_point(), *COMPOSE["services"]["streamcoref"]["command"]]
    assert command[:2] == ["streamcoref", "serve"]
    (volume,) = given(IMAGE, "VOLUME")
    keys = tmp_path / "keys"
    keys.write_text(f"{KEY}\n", encoding="utf-8")
    places = {volume: str(tmp_path / "data"), "/run/secrets/keys": str(keys)}
    assert set(places) < set(command)
    model = toy_resolver.save_model(tmp_path / "model")
    arguments = [places.get(word, word) for word in command[2:]]
    server = Command(model, tmp_path / "data", *arguments)
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    body = {"text": "Anna saw the captain."}
    assert httpx.post(f"{url}/v1/resolve", json=body, timeout=60).status_code == 401
    answer = httpx.post(f"{url}/v1/resolve", json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    assert answer.status_code == 200
    assert server.terminate() == 0


@pytest.mark.slow
def test_without_keys_the_entry_point_refuses_to_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", *entry_point()]
    where = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=where)
    assert refused.returncode != 0
    assert "--key-file" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_compose_gives_it_a_place_for_its_data_and_time_to_save() -> None:
    service = COMPOSE["services"]["streamcoref"]
    (volume,) = given(IMAGE, "VOLUME")
    (port,) = given(IMAGE, "EXPOSE")
    (mounted,), (published,) = service["volumes"], service["ports"]
    name, _, place = mounted.partition(":")
    assert place == volume
    assert name in COMPOSE["volumes"]
    assert published.endswith(f":{port}")
    assert set(service["secrets"]) == set(COMPOSE["secrets"]) == {Path(service["command"][-1]).name}
    minutes, seconds = re.fullmatch(r"(\d+)m(\d+)s", service["stop_grace_period"]).groups()  # type: ignore[union-attr]
    assert 60 * int(minutes) + int(seconds) > Limits().request_seconds
