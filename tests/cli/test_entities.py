"""`streamcoref entities`, run as a user runs it, on stores made by hand."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.entities import timeline
from streamcoref.cli.remedies import sentence
from streamcoref.document import Mention
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from streamcoref.text.sections import Heading

TEXT = "Anna met Bo.\r\nShe (Anna) liked him. " + "Nothing happened. " * 40 + "Then Anna’s boat came.\n"


def mention(word: str, number: int = 0) -> Mention:
    """The mention at the given occurrence of a word; words are counted by blanks."""
    start = [match.start() for match in re.finditer(re.escape(word), TEXT)][number]
    before = len(TEXT[:start].split())
    return Mention(before, before + 1, start, start + len(word), word, 0, 0.9)


EVENTS: list[Event] = [
    EntityStarted(0, mention("Anna")),
    MentionLinked(0, mention("She")),
    MentionLinked(0, mention("Anna", 1)),
    MentionLinked(0, mention("Anna’s")),
    EntityStarted(2, mention("Bo")),
    MentionLinked(2, mention("him")),
    EntityFinished(2, "Bo [sic]", 2, mention("Bo"), mention("him")),
]
END = EntityFinished(0, "Anna", 4, mention("Anna"), mention("Anna’s"))


CHAPTERS = [Heading("CHAPTER I", 1, TEXT.index("She")), Heading("CHAPTER [2]\x1b", 1, TEXT.index("Then"))]


def make(
    folder: Path,
    *,
    done: bool = True,
    headings: Sequence[Heading] = (),
    events: list[Event] = EVENTS,
    end: EntityFinished = END,
) -> Path:
    text = folder / "book.txt"
    text.write_text(TEXT, encoding="utf-8", newline="")
    size, sha256 = text.stat().st_size, hashlib.sha256(text.read_bytes()).hexdigest()
    options = json.dumps({"encoding": "utf-8", "errors": "strict"})
    store = Store.create(folder / "book.sqlite", StoreOrigin(str(text), size, sha256, "default", "f", options))
    store.commit(
        [*events, end] if done else events,
        ReadingPosition(size, 1, len(TEXT), len(TEXT.split()), "", None if done else b"state", done),
        headings=headings,
        length=len(TEXT) if done else None,
    )
    store.close()
    return store.path


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["entities", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_main_entities_with_their_timelines(tmp_path: Path) -> None:
    output = run(make(tmp_path)).stdout
    assert "book.txt: 91 words; 2 entities, 6 mentions" in output
    anna, bo = (line.split() for line in output.splitlines() if "█" in line)
    assert anna[:2] == ["Anna", "4"]
    assert anna[2] == "0–89"
    assert anna[3] == "███" + "·" * 35 + "█·"
    assert bo[:4] == ["Bo", "[sic]", "2", "2–7"]  # brackets are no markup
    assert output.index("Anna") < output.index("Bo [sic]")
    assert len(run(tmp_path / "book.sqlite", "--top", 1).stdout) < len(output)
    assert "Bo" not in run(tmp_path / "book.sqlite", "--top", 1).stdout


def test_entities_of_a_type(tmp_path: Path) -> None:
    (*before, bo) = EVENTS
    assert isinstance(bo, EntityFinished)
    animal, person = replace(bo, type="animal", type_score=0.5), replace(END, type="person", type_score=0.9)
    path = make(tmp_path, events=[*before, animal], end=person)
    lines = [line.split() for line in run(path).stdout.splitlines()]
    header, anna, dog = [line for line in lines if "mentions" in line or "█" in "".join(line)][-3:]
    assert header[:3] == ["name", "type", "mentions"]
    assert (anna[:3], dog[:4]) == (["Anna", "person", "4"], ["Bo", "[sic]", "animal", "2"])
    output = run(path, "--type", "animal").stdout
    assert "Bo [sic]" in output
    assert "Anna" not in output
    assert "Anna: person, 4 mentions" in run(path, "--name", "anna").stdout
    with pytest.raises(StreamcorefError, match="no entity of the type 'plant'; its types: animal, person"):
        run(path, "--type", "plant")
    with pytest.raises(StreamcorefError, match="give it without --name, --says and --by"):
        run(path, "--type", "animal", "--name", "Bo")


def test_a_store_without_types_says_so(tmp_path: Path) -> None:
    path = make(tmp_path)
    assert " type " not in run(path).stdout
    with pytest.raises(StreamcorefError, match="no entity of the type 'person'; its entities have no types"):
        run(path, "--type", "person")


def test_a_store_being_written_shows_who_is_alive(tmp_path: Path) -> None:
    output = run(make(tmp_path, done=False)).stdout
    assert "not read to its end" in output
    assert "Anna +" in output
    assert "Bo [sic] +" not in output


def test_one_entity_in_context(tmp_path: Path) -> None:
    output = run(make(tmp_path), "--name", "anna").stdout
    assert "Anna: 4 mentions, words 0 to 89" in output
    lines = [re.sub(" +", " ", line).strip() for line in output.splitlines() if "[" in line]
    assert lines == [
        "0 [Anna] met Bo. She (Anna) liked him.",
        "3 Anna met Bo. [She] (Anna) liked him. Nothing happe",
        "5 Anna met Bo. She ([Anna]) liked him. Nothing happened. N",
        "88 appened. Nothing happened. Then [Anna’s] boat came.",
    ]


def test_an_entity_is_found_by_a_part_of_its_name_or_a_mention(tmp_path: Path) -> None:
    path = make(tmp_path)
    assert "Bo [sic]: 2 mentions" in run(path, "--name", "sic").stdout
    assert "Bo [sic]: 2 mentions" in run(path, "--name", "HIM").stdout
    assert "others of that name" not in run(path, "--name", "HIM").stdout
    with pytest.raises(StreamcorefError, match="no entity or mention is called 'Carl'"):
        run(path, "--name", "Carl")


@pytest.mark.parametrize("change", ["gone", "longer", "other bytes"])
def test_without_the_same_text_there_is_no_context(change: str, tmp_path: Path) -> None:
    path, text = make(tmp_path), tmp_path / "book.txt"
    if change == "gone":
        text.unlink()
    else:
        text.write_bytes(text.read_bytes() + b"More." if change == "longer" else b"\xff\xfe")
    result = run(path, "--name", "Anna")
    assert "without their context" in result.stderr
    assert "[She]\n" in result.stdout
    assert "liked" not in result.stdout


def test_chapter_by_chapter(tmp_path: Path) -> None:
    path = make(tmp_path, headings=CHAPTERS)
    output = run(path, "--by", "chapter").stdout
    assert "book.txt: 91 words; 2 entities, 6 mentions" in output
    lines = [re.sub(" +", " ", line).strip() for line in output.splitlines()]
    assert lines[-5:-1] == [
        "─" * len(lines[-5]),
        "(before the first) 2 Anna 1, Bo [sic] 1",
        "CHAPTER I 3 Anna 2, Bo [sic] 1",
        "CHAPTER [2] 1 Anna 1",
    ]
    first = run(path, "--by", "chapter", "--top", 1).stdout
    assert "Anna 2" in first
    assert "Bo" not in first
    one = [line.split() for line in run(path, "--by", "chapter", "--name", "him").stdout.splitlines()]
    assert ["CHAPTER", "I", "1", "█" * 30] in one
    assert ["CHAPTER", "[2]", "0"] in one


def test_chapters_down_to_a_level(tmp_path: Path) -> None:
    headings = [Heading("VOLUME I", 1, 0), Heading("CHAPTER I", 2, 5), Heading("CHAPTER II", 2, TEXT.index("Then"))]
    path = make(tmp_path, headings=headings)
    assert "VOLUME I · CHAPTER II" in run(path, "--by", "chapter").stdout
    output = run(path, "--by", "chapter", "--level", 1).stdout
    assert re.search(r"VOLUME I +6 +Anna 4, Bo", output)
    assert "CHAPTER" not in output
    with pytest.raises(StreamcorefError, match="give both"):
        run(path, "--level", 1)


def test_a_text_without_chapters(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="no chapters were found in this text"):
        run(make(tmp_path), "--by", "chapter")


def test_files_that_are_no_stores(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    with pytest.raises(StreamcorefError, match="no such store"):
        run(path)
    path.write_text("Dear Anna, " * 500)
    with pytest.raises(StreamcorefError, match="not a streamcoref store"):
        run(path)
    with pytest.raises(StreamcorefError, match="not a file"):
        run(tmp_path)


def test_a_text_is_told_how_to_become_a_store(tmp_path: Path) -> None:
    """And not to be replaced, which this command cannot do."""
    text = tmp_path / "story.txt"
    text.write_text("Anna met Bo. " * 500)
    with pytest.raises(StreamcorefError) as caught:
        run(text)
    assert sentence(caught.value).endswith(
        f"not a streamcoref store; if it is a text, make one with: streamcoref resolve {text} "
        f"-o {tmp_path / 'story.sqlite'}"
    )
    store = text.rename(tmp_path / "story.sqlite")
    with pytest.raises(StreamcorefError) as caught:
        run(store)
    assert sentence(caught.value).endswith("make one with: streamcoref resolve TEXT -o FILE")


def test_one_entity_is_one_entity(tmp_path: Path) -> None:
    text = tmp_path / "note.txt"
    text.write_text("Anna")
    origin = StoreOrigin(str(text), 4, "", "default", "f", "{}")
    store = Store.create(tmp_path / "note.sqlite", origin)
    store.commit([EntityStarted(0, mention("Anna"))], ReadingPosition(4, 1, 4, 1, done=True))
    store.close()
    assert "note.txt: 1 word; 1 entity, 1 mention\n" in run(store.path).stdout


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=50))
def test_a_timeline_has_a_block_where_there_is_a_mention(counts: list[int]) -> None:
    blocks = timeline(counts)
    assert len(blocks) == len(counts)
    assert [block == "·" for block in blocks] == [count == 0 for count in counts]
    assert sorted(counts) == [c for _, c in sorted(zip(map("·▁▂▃▄▅▆▇█".index, blocks), counts, strict=True))]
    assert not any(counts) or blocks[counts.index(max(counts))] == "█"
