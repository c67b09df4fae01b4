"""`streamcoref resolve --ray`: mistakes are said before any cluster is asked. With one: integrations/test_ray.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from streamcoref.cli.resolve.cluster import folder_of_texts, makes_stores
from tests.cli.toy_resolving import run


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    Path("texts/story.txt").write_text("Anna saw the captain. He left her.", encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["texts"], "--ray writes a folder, as in -o answers/, or a store, as in -o book.sqlite"),
        (["texts", "-o", "out.json"], "--ray writes a folder"),
        (["texts", "-o", "out/", "--format", "html"], "--ray writes jsonlines, parquet or sqlite, not html"),
        (["texts", "texts", "-o", "out/"], "name one"),
        (["texts/story.txt", "-o", "out/"], "this is a file; name its folder"),
        (["nowhere", "-o", "out/"], "nowhere: no such folder"),
        (["texts", "--live"], "give it without --ray"),
    ],
)
def test_mistakes_are_said(model: Path, arguments: list[str], said: str) -> None:
    assert said in run(model, "--ray", "local", *arguments, status=2)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("output", "format_name", "expected"),
    [
        ("book.sqlite", None, True),
        ("stores/", "sqlite", True),
        ("out/", None, False),
        ("texts", "parquet", False),
        ("s3://bucket/answers", "jsonlines", False),
    ],
)
def test_a_store_or_a_folder(output: str, format_name: str | None, expected: bool) -> None:
    assert makes_stores(output, format_name) is expected


def test_an_address_comes_through_the_command_line_whole() -> None:
    assert folder_of_texts([Path("s3://bucket/texts")]) == "s3://bucket/texts"
    Path("texts/s3").mkdir()
    assert folder_of_texts([Path("texts/s3")]) == "texts/s3"


def test_without_ray_the_command_that_installs_it_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ray", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    for output in ("out/", "story.sqlite"):
        said = run(model, "texts" if output == "out/" else "texts/story.txt", "-o", output, "--ray", "auto", status=2)
        assert "pip install 'streamcoref[ray]'" in said
