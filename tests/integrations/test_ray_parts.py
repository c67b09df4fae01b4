"""What the workers of a cluster do, without a cluster: rows of data sets, parts of folders, and what counts of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import streamcoref
from streamcoref import Resolver, StreamcorefError
from streamcoref.formats import read_documents, write_documents
from streamcoref.integrations import ray_target
from streamcoref.integrations.ray_cluster import ModelParcel
from streamcoref.model.parts import load_code
from tests import toy_resolver
from tests.model import toys

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'streamcoref[ray]'")

from streamcoref.integrations.ray_dataset import DatasetWorker, resolve_dataset  # noqa: E402
from streamcoref.integrations.ray_parts import (  # noqa: E402
    FolderTask,
    PartDone,
    PartFormat,
    PartPlan,
    PartWorker,
    texts_in,
)
from streamcoref.integrations.ray_storage import SharedFolder, is_address  # noqa: E402
from streamcoref.integrations.ray_target import TargetState  # noqa: E402

TEXT = "Anna saw the captain. He left her under the old ship. She lost his letter, and he found it."


@pytest.fixture(scope="module")
def parcel(tmp_path_factory: pytest.TempPathFactory) -> ModelParcel:
    return ModelParcel.of(streamcoref.load(toy_resolver.save_model(tmp_path_factory.mktemp("parts") / "toy")))


@pytest.fixture(scope="module")
def local(parcel: ModelParcel) -> Resolver:
    return parcel.unpack()


# The model


def test_a_model_arrives_as_it_was_sent(parcel: ModelParcel, local: Resolver) -> None:
    assert local.fingerprint == parcel.fingerprint
    assert not local.folder.exists()
    other = ModelParcel(parcel.files, (), "another", "float32")
    with pytest.raises(StreamcorefError, match="has changed since it was loaded"):
        other.unpack()
    with pytest.raises(StreamcorefError, match="its model is in no folder"):
        ModelParcel.of(toy_resolver.resolver())


def test_code_of_parts_travels_with_it(parcel: ModelParcel, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import sys\nsys.modules[__name__].arrived = True\n", encoding="utf-8")
    load_code(file)
    sent = ModelParcel(parcel.files, [(file.name, file.read_bytes())], parcel.fingerprint, "float32")
    before = set(sys.modules)
    sent.unpack()
    assert any(getattr(sys.modules[name], "arrived", False) for name in set(sys.modules) - before)


# Rows


def worker(parcel: ModelParcel, columns: dict[str, str], key: str | None = None, **options: Any) -> DatasetWorker:
    return DatasetWorker(lambda: parcel, "cpu", columns, key, options)


def test_rows_keep_their_columns_and_get_an_answer_or_an_error(parcel: ModelParcel, local: Resolver) -> None:
    given = [
        {"n": 1, "words": [["Anna", "saw", "the", "captain", "."], ["He", "left", "her", "."]]},
        {"n": 2, "words": [["Anna"], None]},
        {"n": 3, "words": []},
    ]
    found = worker(parcel, {"words": "words"}, "n", singletons=True)(pa.Table.from_pylist(given)).to_pylist()
    assert [{"n": row["n"], "words": row["words"]} for row in found] == given
    assert [row["error"] is None for row in found] == [True, False, True]
    assert found[1]["error"].startswith("2: ")
    assert found[1]["entities"] is None
    document = local.resolve(words=given[0]["words"], singletons=True).with_text()
    assert [entity["name"] for entity in found[0]["entities"]] == [entity.name for entity in document.entities]
    mentions = [mention["text"] for entity in found[0]["entities"] for mention in entity["mentions"]]
    assert mentions
    assert mentions == [mention.text for entity in document.entities for mention in entity.mentions]
    assert found[2]["entities"] == []


def test_tables_have_the_same_types_whatever_is_in_them(parcel: ModelParcel) -> None:
    resolve = worker(parcel, {"text": "text"})
    tables = [resolve(pa.table({"text": pa.array([text], pa.string())})) for text in ("", TEXT, None)]
    assert tables[0].schema == tables[1].schema == tables[2].schema
    assert pa.concat_tables(tables).num_rows == 3


def test_a_text_that_is_not_english_is_a_value_too(parcel: ModelParcel) -> None:
    german = "Als die Nachbarin gestern Abend nach Hause kam, lag der Schlüssel nicht mehr unter der Matte. " * 5
    table = worker(parcel, {"text": "text"})(pa.table({"text": [german, TEXT]}))
    assert [bool(warning) for warning in table.column("warning").to_pylist()] == [True, False]


@pytest.mark.parametrize(
    ("columns", "said"),
    [({"body": [TEXT]}, "no column 'text'; its columns are body"), ({"text": [TEXT], "error": [""]}, "already: error")],
)
def test_columns_that_cannot_be_are_said(parcel: ModelParcel, columns: dict[str, list[str]], said: str) -> None:
    with pytest.raises(StreamcorefError, match=said):
        worker(parcel, {"text": "text"})(pa.table(columns))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": None}, "name one column to read"),
        ({"speakers": "who"}, "speakers go with words"),
        ({"workers": 0}, "workers is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_mistakes_are_said_before_a_cluster_is_asked(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(StreamcorefError, match=said):
        resolve_dataset(None, **arguments)


# Parts


def part_worker(
    parcel: ModelParcel, source: Path, target: Path, part_format: PartFormat = "jsonlines", read_as: str | None = None
) -> PartWorker:
    return PartWorker(
        lambda: parcel,
        "cpu",
        FolderTask(
            SharedFolder(source), SharedFolder(target), part_format, read_as, "utf-8", "strict", {"singletons": True}
        ),
    )


def resolve_part(work: PartWorker, *files: str) -> PartDone:
    plan = json.dumps({"name": "part-000000-000000000000.x", "files": [(file, 1) for file in files]})
    (done,) = work({"part": [plan]})["part"]
    return PartDone.from_json(done)


@pytest.mark.parametrize("part_format", ["jsonlines", "parquet"])
def test_a_part_has_whole_files_only(
    parcel: ModelParcel, local: Resolver, tmp_path: Path, part_format: PartFormat
) -> None:
    """A file that goes wrong in the middle is not in it at all: it will be tried again."""
    documents = [toys.document(seed, 40) for seed in (1, 2)]
    write_documents(documents, tmp_path / "good.jsonl", "jsonlines")
    write_documents(documents, tmp_path / "half.jsonl", "jsonlines")
    with (tmp_path / "half.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    (tmp_path / "none.jsonl").write_text("\n", encoding="utf-8")
    work = part_worker(parcel, tmp_path, tmp_path / "out", part_format, "jsonlines")
    done = resolve_part(work, "half.jsonl", "good.jsonl", "none.jsonl", "gone.jsonl")
    assert done.files == [("good.jsonl", 1)]
    assert (done.texts, done.words) == (2, 80)
    assert set(done.errors) == {"half.jsonl", "none.jsonl", "gone.jsonl"}
    assert str(done.error("half.jsonl")).startswith("half.jsonl:3: broken JSON")
    part = tmp_path / "out" / "part-000000-000000000000.x"
    expected = [local.resolve(document=document, singletons=True) for document in documents]
    if part_format == "jsonlines":
        assert [found.to_dict() for found in read_documents(part, "jsonlines")] == [one.to_dict() for one in expected]
        return
    import pyarrow.parquet as pq

    rows = pq.read_table(part).to_pylist()
    assert [(row["file"], row["key"], row["words"]) for row in rows] == [
        ("good.jsonl", one.key, 40) for one in documents
    ]
    for row, one in zip(rows, expected, strict=True):
        assert row["text"] == one.with_text().text
        assert [entity["size"] for entity in row["entities"]] == [entity.size for entity in one.entities]
        for entity in row["entities"]:
            for mention in entity["mentions"]:
                assert row["text"][mention["start"] : mention["end"]] == mention["text"]


def test_a_part_without_a_text_is_no_file(parcel: ModelParcel, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"Anna \xff saw her.")
    done = resolve_part(part_worker(parcel, tmp_path, tmp_path / "out"), "bad.txt")
    assert done.files == []
    assert done.error("bad.txt").remedy is not None
    assert not (tmp_path / "out").exists()


# What counts


def state(target: Path, *, force: bool = False, **origin: Any) -> TargetState:
    return TargetState(SharedFolder(target), {"model": "m", **origin}, ".jsonl", force=force)


def files(source: Path, *names: str) -> list[Any]:
    source.mkdir(exist_ok=True)
    for name in names:
        (source / name).write_text("Anna.", encoding="utf-8")
    return texts_in(SharedFolder(source), (".txt",))


def make(part: PartPlan, target: Path, how: TargetState | None) -> None:
    """A part is written, and perhaps counted."""
    (target / part.name).write_text("{}\n", encoding="utf-8")
    if how is not None:
        how.commit(PartDone(part.name, list(part.files), len(part.files), 1))


def test_what_is_counted_is_done_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_target, "PART_FILES", 2)
    source, target = tmp_path / "in", tmp_path / "out"
    found = files(source, "a.txt", "b.txt", "c.txt", "d.txt", "e.txt", ".hidden.txt", "no.csv")
    first = state(target)
    plans = first.plans(first.left(found))
    assert [[name for name, _ in plan.files] for plan in plans] == [["a.txt", "b.txt"], ["c.txt", "d.txt"], ["e.txt"]]
    make(plans[1], target, first)
    make(plans[0], target, None)  # killed before it was counted
    (target / "notes.txt").write_text("mine", encoding="utf-8")
    (target / ".0123456789abcdef.tmp").write_text("half", encoding="utf-8")
    second = state(target)
    assert sorted(path.name for path in target.glob("part-*")) == [plans[1].name]
    assert (target / "notes.txt").is_file()
    assert not (target / ".0123456789abcdef.tmp").exists()
    left = second.left(files(source, "aa.txt"))
    assert [file.name for file in left] == ["a.txt", "aa.txt", "b.txt", "e.txt"]
    assert {plan.name for plan in second.plans(left)} & {plan.name for plan in plans} == set()
    assert len(state(target, force=True).left(found)) == 5
    assert not list(target.glob("part-*"))


def test_a_folder_goes_on_only_with_what_it_was_begun_with(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    found = files(source, "a.txt")
    begun = state(target)
    make(begun.plans(found)[0], target, begun)
    with pytest.raises(StreamcorefError, match="begun with another model"):
        state(target, model="other")
    (source / "a.txt").write_text("Anna saw her.", encoding="utf-8")
    with pytest.raises(StreamcorefError, match="is not what it was"):
        state(target).left(files(source))
    with pytest.raises(StreamcorefError, match="there are other files in this folder"):
        state(source)
    with pytest.raises(StreamcorefError, match="this is a file"):
        state(source / "a.txt")


def test_large_files_make_parts_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_target, "PART_BYTES", 12)
    found = files(tmp_path / "in", "a.txt", "b.txt", "c.txt")  # of 5 bytes each
    assert [len(plan.files) for plan in state(tmp_path / "out").plans(found)] == [2, 1]


def test_errors_of_a_run_are_written_down_and_forgotten_by_the_next(tmp_path: Path) -> None:
    begun = state(tmp_path)
    begun.note_errors({"a.txt": StreamcorefError("a.txt: not text")})
    (line,) = (tmp_path / ray_target.ERRORS).read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"file": "a.txt", "error": "a.txt: not text"}
    begun.note_errors({})
    assert not (tmp_path / ray_target.ERRORS).exists()


# Folders that machines share


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    storage = SharedFolder(tmp_path)

    def stopped() -> None:
        with storage.written("deep/a") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    storage.write("deep/a", b"whole")
    assert [(file.name, file.size) for file in storage.listed()] == [("deep/a", 5)]
    assert storage.read("deep/a") == b"whole"
    with pytest.raises(StreamcorefError, match="the storage says"):
        storage.read("gone")


def test_addresses_of_other_storage() -> None:
    assert is_address("s3://bucket/folder")
    assert not is_address("folder/s3")
    with pytest.raises(StreamcorefError, match="this storage cannot be reached"):
        SharedFolder("nowhere://bucket/folder")


def test_what_lies_elsewhere_is_read_from_a_copy(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna", encoding="utf-8")
    storage = SharedFolder(tmp_path)
    storage.is_local = False
    with storage.local_copy("a.txt") as copy:
        assert copy != tmp_path / "a.txt"
        assert copy.read_text(encoding="utf-8") == "Anna"
    assert not copy.exists()
