"""Small corpora that can be learnt completely: an entity is a name, said again and again."""

from __future__ import annotations

import random
from pathlib import Path

from streamcoref.document import Document
from streamcoref.formats import write_documents
from streamcoref.model.checkpoint import Checkpoint, save_checkpoint
from tests.model import toys

NAMES = ["Anna", "Berta", "Carl", "Doyle", "Emma", "Frank"]
FILLERS = ["saw", "met", "left", "found", "and", "but", "when", "near", "under", "asked"]


def document(seed: int, sentences: int = 8) -> Document:
    choose = random.Random(seed)
    people = choose.sample(NAMES, 3)
    said: dict[str, list[tuple[int, int]]] = {name: [] for name in people}
    text: list[list[str]] = []
    count = 0
    for _ in range(sentences):
        sentence: list[str] = []
        for _ in range(choose.randint(1, 2)):
            name = choose.choice(people)
            said[name].append((count + len(sentence), count + len(sentence) + 1))
            sentence += [name, choose.choice(FILLERS)]
        sentence.append(".")
        text.append(sentence)
        count += len(sentence)
    return Document.from_sentences(f"toy/{seed}", text, [spans for spans in said.values() if len(spans) > 1])


def corpus(path: Path, documents: int = 6) -> Path:
    write_documents([document(seed) for seed in range(documents)], path, "jsonlines")
    return path


def encoder_folder(path: Path) -> Path:
    """A tiny random encoder with its tokenizer, as a Hugging Face folder."""
    model = toys.model(toys.config(), 0, spread=1.0)
    model.encoder.model.save_pretrained(path)
    toys.tokenizer().tokenizer.save_pretrained(path)
    return path


def checkpoint(path: Path, **changes: object) -> Path:
    config = toys.config(**changes)
    save_checkpoint(path, Checkpoint(toys.model(config, 0, spread=1.0), config, toys.tokenizer()), "# test\n")
    return path
