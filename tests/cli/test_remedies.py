"""What to do about an error, as the command line says it."""

from __future__ import annotations

import sys

import pytest

from streamcoref import cli
from streamcoref.cli.remedies import SENTENCES, sentence
from streamcoref.errors import InputError, Remedy, StreamcorefError


def test_every_remedy_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Remedy)
    assert not [text for text in SENTENCES.values() if "force=" in text or "=True" in text]


def test_a_sentence_has_the_flag() -> None:
    assert (
        sentence(InputError("it exists", "a.csv", None, Remedy.REPLACE))
        == "a.csv: it exists; use --force to replace it"
    )
    assert sentence(StreamcorefError("nothing")) == "nothing"


def test_the_command_says_flags(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise StreamcorefError("out.csv: the file exists", Remedy.REPLACE)

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr(sys, "argv", ["streamcoref"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "streamcoref: out.csv: the file exists; use --force to replace it\n"
