"""An encoder that comes with a plain list of word pieces and nothing that says whether capitals count."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamcoref.document import Document
from streamcoref.formats import write_documents
from tests.training import synthetic

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "Anna", "anna", "saw", "."]


@pytest.mark.parametrize("cased", [True, False])
def test_train_keeps_capitals_if_the_vocabulary_has_any(tmp_path: Path, cased: bool) -> None:
    document = Document.from_sentences("a", [["Anna", "saw", "anna"]])
    write_documents([document], tmp_path / "toy1.jsonl", "jsonlines")
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    encoder = tmp_path / "encoder"
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (encoder / file).unlink(missing_ok=True)
    pieces = [piece if cased or piece != "Anna" else "[unused]" for piece in PIECES]
    (encoder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    run = synthetic.new_run(values)
    (segment,) = run.start.train[0].examples[0].segments
    assert segment.piece_ids.tolist() == [2, 5 if cased else 6, 7, 6, 3]
    assert run.start.checkpoint.tokenizer(["Anna", "anna"]) == [[5 if cased else 6], [6]]
