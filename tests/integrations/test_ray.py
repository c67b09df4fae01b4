"""On a real cluster of two nodes, one of which dies: the answers are those of one machine, none lost, none twice."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import streamcoref
import streamcoref.ray
from streamcoref import Resolver, StoppedError
from streamcoref.formats import files, read_documents
from streamcoref.integrations import ray_encoders, ray_target
from streamcoref.integrations.ray_cluster import connect
from streamcoref.integrations.ray_encoders import AHEAD, ClusterService
from streamcoref.integrations.ray_folder import FolderProgress
from streamcoref.integrations.ray_rows import answer_row
from streamcoref.model.segments import Segment
from streamcoref.progress import ReadingProgress
from tests import toy_resolver
from tests.cli.toy_resolving import invoke, rows
from tests.integrations.ray_clusters import Machines, machines, ray
from tests.model import toys

# Ray warns of parts of Ray that will go.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray[.]"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray[.]"),
]


@pytest.fixture(scope="module", autouse=True)
def _patient() -> Iterator[None]:
    """A busy machine starts workers slowly."""
    before, ray_encoders.PATIENCE = ray_encoders.PATIENCE, 3600.0
    yield
    ray_encoders.PATIENCE = before


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    with machines() as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_resolver.save_model(tmp_path_factory.mktemp("ray") / "toy")


@pytest.fixture(scope="module")
def local(folder: Path) -> Resolver:
    return streamcoref.load(folder)


def all_working(service: ClusterService, workers: int) -> None:
    while service.working < workers:
        time.sleep(0.1)


@pytest.fixture(scope="class")
def second(cluster: Machines) -> Any:
    return cluster.add()


@pytest.fixture(scope="class")
def service(cluster: Machines, second: Any, local: Resolver) -> ClusterService:
    """With a worker on each machine."""
    assert second is not None
    return ClusterService(local, connect(cluster.address), 2)


@pytest.fixture(scope="class")
def remote(local: Resolver, service: ClusterService) -> Resolver:
    return Resolver(local.checkpoint, local.folder, service)


class TestOneText:
    """Segments there, links here."""

    def test_a_text_is_read_by_two_machines_one_of_which_dies(
        self, cluster: Machines, second: Any, local: Resolver, remote: Resolver, service: ClusterService
    ) -> None:
        text = toy_resolver.plain_text(3, 2000)
        alone = local.stream()
        expected = alone.feed(text) + alone.close()
        all_working(service, 2)
        stream, found, answered_by_one = remote.stream(), [], 0
        for number, events in enumerate(stream.feed_ahead(text[n : n + 400] for n in range(0, len(text), 400))):
            found += events
            answered_by_one += service.working == 1
            if number == 3:
                assert service.under_way > AHEAD  # more than one of them has
                cluster.kill(second)
        found += stream.close()
        assert found == expected
        assert answered_by_one
        assert service.under_way == 0

    def test_a_store_made_on_a_cluster_is_stopped_goes_on_and_is_the_same(
        self, local: Resolver, remote: Resolver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "CHUNK_BYTES", 1000)
        book = tmp_path / "book.txt"
        book.write_text(toy_resolver.plain_text(5, 1500), encoding="utf-8")
        local.resolve_file(book, tmp_path / "here.sqlite").close()
        seen: list[ReadingProgress] = []
        with pytest.raises(StoppedError):
            remote.resolve_file(
                book, tmp_path / "there.sqlite", on_progress=seen.append, should_stop=lambda: len(seen) == 2
            )
        with local.resolve_file(book, tmp_path / "there.sqlite", should_stop=lambda: False) as store:
            assert store.position.done
        remote.resolve_file(book, tmp_path / "again.sqlite").close()
        for name in ("there.sqlite", "again.sqlite"):
            assert rows(tmp_path / name) == rows(tmp_path / "here.sqlite")

    def test_vectors_are_those_of_this_machine_and_few_are_held(self, local: Resolver, service: ClusterService) -> None:
        segments = local.checkpoint.segmenter.cut(toys.document(1, 300))
        here = local.checkpoint.model.service(1)
        all_working(service, 1)
        taken = 0

        def source() -> Iterator[Segment]:
            nonlocal taken
            for segment in segments:
                taken += 1
                yield segment

        for number, ((segment, vectors), (_, own)) in enumerate(
            zip(service.in_order(source()), here.in_order(segments), strict=True), 1
        ):
            assert segment is segments[number - 1]
            assert torch.equal(vectors, own)
            assert taken <= number + AHEAD * 2

    def test_what_an_encoder_complains_of_reaches_the_caller(self, local: Resolver, service: ClusterService) -> None:
        (segment, *others) = local.checkpoint.segmenter.cut(toys.document(1, 100))
        bad = replace(segment, piece_ids=segment.piece_ids + 10**6)
        with pytest.raises(IndexError):
            list(service.in_order([bad]))
        assert service.under_way == 0
        assert len(list(service.in_order(others))) == len(others)


# Many texts


def test_a_data_set_keeps_its_order_and_its_errors_though_a_machine_dies(cluster: Machines, local: Resolver) -> None:
    texts: list[str | None] = [toy_resolver.plain_text(seed, 300) for seed in range(24)]
    texts[5] = None
    given = [{"id": f"t{number:02}", "body": text} for number, text in enumerate(texts)]
    second = cluster.add()
    resolved = streamcoref.ray.resolve_dataset(
        ray.data.from_items(given, override_num_blocks=12),
        text="body",
        key="id",
        model=local,
        workers=2,
        batch_size=2,
        singletons=True,
    )
    found = []
    for row in resolved.iter_rows():
        if not found:
            cluster.kill(second)
        found.append(row)
    assert [(row["id"], row["body"]) for row in found] == [(row["id"], row["body"]) for row in given]
    assert [row["id"] for row in found if row["error"]] == ["t05"]
    assert found[5]["error"] == "t05: there is nothing in the column 'body'"
    for row in found:
        if row["error"] is None:
            expected = answer_row(local.resolve(row["body"], singletons=True))
            assert row["entities"] == json.loads(json.dumps(expected["entities"]))  # lists for tuples, as Arrow has


def test_a_folder_goes_on_where_it_was_though_a_machine_dies(
    cluster: Machines, folder: Path, local: Resolver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_target, "PART_FILES", 2)
    source, target = tmp_path / "texts", tmp_path / "answers"
    (source / "deep").mkdir(parents=True)
    names = [*(f"text{number}" for number in range(8)), "deep/text"]
    for number, name in enumerate(names):
        (source / f"{name}.txt").write_text(toy_resolver.plain_text(number, 200), encoding="utf-8")
    (source / "bad.txt").write_bytes(b"Anna \xff\xfe saw her.")
    second = cluster.add()
    told: list[FolderProgress] = []

    def power_failure(progress: FolderProgress) -> None:
        told.append(progress)
        if len(told) == 2:
            cluster.kill(second)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        streamcoref.ray.resolve_folder(source, target, model=folder, workers=2, on_progress=power_failure)
    arguments = "resolve", "--model", folder, source, "-o", f"{target}/", "--ray", cluster.address
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "bad.txt:1: not valid utf-8" in result.stderr
    assert "--errors replace" in result.stderr
    assert re.search(r"answers/: not complete: [1-8] texts, [\d,]+ words, [1-8] files done before", result.stderr)
    (source / "bad.txt").write_text("Anna saw her.", encoding="utf-8")
    assert "answers/: complete: 1 text, 4 words, 9 files done before" in invoke(*arguments).stderr
    parts = {path.name: path.stat().st_mtime_ns for path in target.glob("part-*")}
    assert "answers/: complete: 0 texts, 0 words, 10 files done before" in invoke(*arguments).stderr
    assert {path.name: path.stat().st_mtime_ns for path in target.glob("part-*")} == parts
    found = [document for part in sorted(target.glob("part-*.jsonl")) for document in read_documents(part)]
    assert sorted(document.key for document in found) == sorted([*names, "bad"])
    for document in found:
        if document.key == "bad":
            continue
        number = names.index(document.key)
        expected = local.resolve(toy_resolver.plain_text(number, 200), key=document.key)
        assert document.to_dict() == expected.to_dict()
