"""Started without a standard input or output: a sentence, and no file in their place."""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from streamcoref.cli.resolve import documents
from streamcoref.errors import InputError
from streamcoref.formats import format_of_input, read_documents
from streamcoref.formats.files import LONGEST_LINE
from tests.cli.toy_resolving import ENVIRONMENT, run
from tests.waiting import PATIENCE

COMMAND = f'{sys.executable} -c "from streamcoref.cli import main; main()"'


def shell(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, which can close what it likes."""
    return subprocess.run(
        ["sh", "-c", f"{COMMAND} {arguments}"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def place(tmp_path: Path, model: Path) -> Path:
    (tmp_path / "story.txt").write_text("Anna met the captain. She left him.\n")
    (tmp_path / "model").symlink_to(model)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("resolve --model model <&-", "streamcoref: there is no standard input: it is closed; name a file\n"),
        ("resolve - --model model <&-", "streamcoref: there is no standard input: it is closed; name a file\n"),
        (
            "resolve --live --model model <&-",
            "streamcoref: there is no standard input to follow: it is closed; name a file\n",
        ),
        ("resolve story.txt --model model >&-", "streamcoref: there is no standard output: it is closed\n"),
        ("resolve story.txt --model model <&- >&- 2>&-", ""),
    ],
)
def test_a_sentence(arguments: str, said: str, place: Path) -> None:
    done = shell(place, arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.slow
def test_what_is_not_needed_is_not_missed(place: Path) -> None:
    done = shell(place, "resolve story.txt --model model -o story.sqlite <&- >&-")
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stderr
    done = shell(place, "entities story.sqlite --top 99999999999999999999 2>&-")
    assert done.returncode == 0
    assert done.stdout.startswith(str(place / "story.txt"))


def zeros(path: Path, begin: bytes, size: int) -> None:
    """A gzip file of one line that begins like this."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(begin)
        block = b"0" * (1 << 20)
        for _ in range(size >> 20):
            file.write(block)


@pytest.mark.parametrize("name", ["long.jsonl.gz", "long.conll.gz", "long.conllu.gz"])
def test_a_line_without_end_in_a_small_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    zeros(path, b'{"sentences": [["' if "json" in name else b"# newdoc\n0 ", LONGEST_LINE + (1 << 22))
    assert path.stat().st_size < LONGEST_LINE / 100
    line = 1 if "json" in name else 2
    said = rf"{name}:{line}: this line has more than 64 megabytes"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=said):
        list(read_documents(path))
    if line == 1:
        with pytest.raises(InputError, match=said):
            format_of_input(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 4 * (LONGEST_LINE >> 20)


def test_a_text_too_long_to_be_held(place: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file and as a pipe; a store and events take it."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(documents, "LONGEST_HELD", 20)
    for given, content in (("story.txt", None), ("-", "Anna met the captain. She left him.\n")):
        said = run(model, given, status=2, given=content)
        assert f"{given}: this text has more than 20 characters, too many to be held as a whole" in said
        run(model, given, "--format", "events", given=content)
    run(model, "story.txt", "-o", "story.sqlite")


def test_encodings_that_are_none(place: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for name in ("idna", "punycode", "base64", "rot13", "undefined"):
        assert "encoding" in run(model, "story.txt", "--encoding", name, status=2)
