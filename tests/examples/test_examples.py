"""The scripts in examples/ run: quickly with a random model, and as a user would, with the bundled one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(script: str, *arguments: object, status: int = 0) -> str:
    """What a script prints, on standard output or, if it fails, on standard error."""
    result = subprocess.run(
        [sys.executable, EXAMPLES / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
        check=False,
    )
    assert result.returncode == status, result.stderr
    return result.stderr if status else result.stdout


@pytest.fixture(scope="module")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from streamcoref.model.checkpoint import save_checkpoint
    from tests.evaluation import toy_evaluation

    folder = tmp_path_factory.mktemp("model")
    save_checkpoint(folder, toy_evaluation.checkpoint(), "# A model of a test\n")
    return folder


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    """The story of examples/ as the one chapter of a novel."""
    path = tmp_path / "novel.txt"
    path.write_text((EXAMPLES / "marigold.txt").read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.mark.slow
def test_demo_with_any_model(random_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, so that the page of a random model is not where people look for the real one."""
    from streamcoref import load

    monkeypatch.syspath_prepend(EXAMPLES)
    import demo

    demo.main(load(random_model), tmp_path / "demo.html")
    assert "Marigold" in (tmp_path / "demo.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_stream_service_and_novel_with_any_model(random_model: Path, novel: Path) -> None:
    assert "Owen: Paula took it upstairs." in run("stream.py", random_model)
    said = run("service.py", random_model)
    assert "garage, in process 2:" in said
    assert len(re.findall(r"^(?:garage|kitchen)\.state: [\d,]+ bytes$", said, re.MULTILINE)) == 2
    run("novel.py", novel, random_model)
    assert novel.with_suffix(".sqlite").is_file()


@pytest.mark.slow
def test_a_missing_novel_is_one_sentence(random_model: Path, tmp_path: Path) -> None:
    assert run("novel.py", status=1).startswith("usage:")
    error = run("novel.py", tmp_path / "none.txt", random_model, status=1)
    assert error == f"novel: {tmp_path / 'none.txt'}: no such file\n"


@pytest.mark.slow
@pytest.mark.parametrize("script", ["demo.py", "stream.py", "service.py", "novel.py"])
def test_a_missing_model_is_one_sentence(script: str, novel: Path, tmp_path: Path) -> None:
    error = run(script, *([novel] if script == "novel.py" else []), tmp_path / "no-model", status=1)
    assert error.count("\n") == 1
    assert "no-model" in error


@pytest.mark.model
def test_demo() -> None:
    said = run("demo.py")
    for name in ("Tobias", "Ingrid", "Lena", "Nkemi"):
        assert name in said
    score = re.search(r"CoNLL F1 (\d+\.\d)", said)
    assert score
    assert float(score[1]) >= 60
    assert "build/demo.html" in said
    assert "Tobias" in (EXAMPLES.parent / "build" / "demo.html").read_text(encoding="utf-8")


@pytest.mark.model
def test_stream_reports_pronouns_while_the_chat_goes_on() -> None:
    lines = run("stream.py").splitlines()
    said = [line for line in lines if line.startswith("Owen: Careful")]
    linked = [line for line in lines[: lines.index(said[0])] if line.startswith("    “")]
    assert linked, "nothing was linked before the fourth message"
    assert any(line.startswith("    “") and "was mentioned" in line for line in lines)


@pytest.mark.model
def test_service_moves_conversations_between_processes() -> None:
    said = run("service.py")
    parts = re.split(r"^(\w+), in process (\d): .*\n", said, flags=re.MULTILINE)
    found = {
        (conversation, process): dict(re.findall(r"“([^”]+)” is entity (\d+)", lines))
        for conversation, process, lines in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    }
    # What the second process calls by its name is the entity that the first one began.
    assert found["garage", "1"]["Mr. Holm"] == found["garage", "2"]["Mr. Holm"]


@pytest.mark.model
def test_novel_has_its_main_characters(novel: Path) -> None:
    said = run("novel.py", novel)
    assert re.search(r"^(?:Tobias|Ingrid|August|Lena).*\|.*[▁▂▃▄▅▆▇█].*\|", said, re.MULTILINE)
    assert run("novel.py", novel) == said, "a complete store is not read again and says the same"
