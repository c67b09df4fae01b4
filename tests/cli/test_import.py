"""`streamcoref import`, run as a user runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from streamcoref.model.checkpoint import load_checkpoint
from tests.cli.commands import complaint_of, run_command

DATA = Path(__file__).parent.parent / "convert" / "data"
TINY = DATA / "spanbert_tiny"


run, complaint = partial(run_command, "import"), partial(complaint_of, "import")


def rows(output: str) -> dict[str, list[str]]:
    """The table: part -> what became of it, tensors, parameters."""
    lines = [line.split() for line in output.splitlines() if line.startswith("  ")]
    return {" ".join(line[:-3]): line[-3:] for line in lines if len(line) > 3}


def test_a_baseline_with_its_table(tmp_path: Path) -> None:
    output = run(TINY, tmp_path / "out")
    table = rows(output)
    assert table["encoder"] == ["taken", "37", "1,872"]
    assert table["higher order"] == ["taken", "2", "1,596"]
    assert table["optimizer state"][:2] == ["dropped", "134"]
    assert table["step counter"] == ["dropped", "1", "1"]
    assert output.splitlines()[-1] == (
        f"{tmp_path / 'out'}: a baseline model, from the whole-document baseline of Joshi et al. (2019), a TensorFlow "
        "checkpoint; settings of baseline-spanbert-base, segments of 48 pieces"
    )
    assert load_checkpoint(tmp_path / "out").config.kind == "baseline"


def test_an_incremental_model_of_either_source(tmp_path: Path) -> None:
    table = rows(run(TINY, tmp_path / "a", "--kind", "incremental"))
    assert table["Update"][:2] == ["new", "4"]
    assert table["only a baseline has it"][:2] == ["dropped", "7"]
    table = rows(run(DATA / "checkpoint.bin", tmp_path / "b", "--encoder", TINY, "--max-pieces", 32))
    assert table["Update"][:2] == ["taken", "4"]
    assert load_checkpoint(tmp_path / "b").config.segments.max_pieces == 32


def test_an_encoder_and_a_model_around_it(tmp_path: Path) -> None:
    output = run(TINY, tmp_path / "encoder", "--kind", "encoder")
    assert output.splitlines()[-1].startswith(f"{tmp_path / 'encoder'}: an encoder, from ")
    output = run(tmp_path / "encoder", tmp_path / "model", "--preset", "small")
    assert rows(output)["Spans"][0] == "new"
    assert "settings of small" in output
    vocabulary = tmp_path / "vocab.txt"
    shutil.copy(TINY / "vocab.txt", vocabulary)
    run(tmp_path / "encoder", tmp_path / "model", "--preset", "small", "--force", "--tokenizer", vocabulary)


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    run(TINY, tmp_path / "out")
    assert complaint(TINY, tmp_path / "out").endswith("use --force to write into it")
    assert "no such file" in complaint(tmp_path / "nowhere", tmp_path / "x")
    assert "stored in slices" in complaint(DATA / "partitioned", tmp_path / "x")
    assert "--encoder" in complaint(DATA / "checkpoint.bin", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_mistake_ends_with_status_2_and_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from streamcoref.cli import main; main()", "import"]
    done = subprocess.run(
        [*command, DATA / "partitioned", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("streamcoref: ")
    assert len(done.stderr.splitlines()) == 1


def test_the_documented_commands_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of docs/checkpoints.md, on the fixtures under the published names."""
    page = (Path(__file__).parents[2] / "docs" / "checkpoints.md").read_text(encoding="utf-8")
    commands = [line.split("#")[0].split() for line in page.splitlines() if line.startswith("streamcoref import ")]
    assert len(commands) == 4
    shutil.copytree(TINY, tmp_path / "spanbert_large")
    shutil.copy(DATA / "checkpoint.bin", tmp_path)
    shutil.copy(TINY / "vocab.txt", tmp_path)
    run(TINY, tmp_path / "spanbert_hf", "--kind", "encoder")
    shutil.copy(TINY / "bert_config.json", tmp_path)  # the fixture is narrower than any published model
    monkeypatch.chdir(tmp_path)
    for command in commands:
        run(*command[2:])
        assert (tmp_path / command[3] / "model.safetensors").is_file()
