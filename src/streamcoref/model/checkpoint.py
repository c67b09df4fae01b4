"""Models on disk: a folder with `model.safetensors` or its parts, `config.json`, the tokenizer's files and a card,
`README.md`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.config import ModelConfig, build_model, parse_config
from streamcoref.model.encoder import architecture_of
from streamcoref.model.folder_files import read_json
from streamcoref.model.hub_folders import MODEL_FILES, TOKENIZER_FILES, fetched, folder_of
from streamcoref.model.installed import installed_folder, no_such_model
from streamcoref.model.segments import Segmenter
from streamcoref.model.storage import Storage, metadata, stored
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.tokenizer_files import load_auto_tokenizer, tokenizer_faults
from streamcoref.model.weight_files import has_weights, write_weights
from streamcoref.model.weights import CONFIG, check_weights, load_weights, making
from streamcoref.model.word_pieces import plain_vocabulary, word_pieces

CARD = "README.md"
DEFAULT = "default"  # the name of the model that comes with the package; a folder of that name is ./default
_TRIAL = ("Anna", "é", "漢", "👍🏽", "x" * 200)  # words that any tokenizer makes something of
BUNDLED = Path(__file__).parent.parent / "models" / "default"


class Checkpoint(NamedTuple):
    """A model with all that it takes to read texts with it."""

    model: CorefModel
    config: ModelConfig
    tokenizer: PieceTokenizer

    @property
    def segmenter(self) -> Segmenter:
        return Segmenter(self.tokenizer, self.config.segments, self.model.trackers)


def save_checkpoint(
    folder: str | Path,
    checkpoint: Checkpoint,
    card: str,
    weights: Storage = "float32",
    max_file_mb: float | None = None,
) -> None:
    """Write the folder; `weights` says how their numbers are stored.

    Where they take more than `max_file_mb` (of 10^6 bytes), they are written as several files, each below that.
    """
    model, config, tokenizer = checkpoint
    tensors = stored(model.state_dict(), weights)  # or say why not, before anything is written
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = config.encoder.name
    on_hub = name is not None and name.count("/") <= 1 and not Path(name).exists()
    encoder = config.encoder.model_copy(
        # a folder of this machine means nothing elsewhere
        update={"architecture": architecture_of(model.encoder.model), "name": name if on_hub else None}
    )
    values = config.model_copy(update={"encoder": encoder}).model_dump(mode="json")
    (folder / CONFIG).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(card, encoding="utf-8")
    tokenizer.tokenizer.save_pretrained(folder)
    write_weights(folder, tensors, metadata(weights), max_file_mb)


def load_checkpoint(name: str | Path, device: torch.device | str = "cpu", revision: str | None = None) -> Checkpoint:
    """A model from a folder or from the hub, in evaluation mode, in 32-bit floats.

    Whoever made the folder: nothing in it is run, and its weights are compared with its config before there is memory
    for either.
    """
    folder = find_checkpoint(name, revision)
    try:
        values = read_json(folder / CONFIG)
    except FileNotFoundError as error:
        raise StreamcorefError(f"{folder} is not a model folder: it has no {CONFIG}") from error
    config = parse_config(values, str(folder / CONFIG))
    tokenizer = load_tokenizer(folder)
    check_weights(folder, config, tokenizer)
    with making(folder / CONFIG):
        model = build_model(config, tokenizer=tokenizer)
    load_weights(model, folder)
    known: int | None = getattr(model.encoder.model.config, "vocab_size", None)  # an encoder of one's own may not say
    if known is not None and tokenizer.size > known:
        raise StreamcorefError(
            f"{folder}: its tokenizer has a piece {tokenizer.size - 1}, but its encoder knows {known}, "
            "counted from 0; it is another model's"
        )
    return Checkpoint(model.to(device).eval(), config, tokenizer)


def find_checkpoint(name: str | Path, revision: str | None = None) -> Path:
    """The folder of a model: itself, a snapshot of the hub repository of that name, or that of an installed model.

    A plain name is an installed model's before it is a folder's: the same name means the same model wherever one is. A
    `Path` that is a folder is itself. `revision` is a branch, tag or commit of the hub repository.
    """
    folder = Path(name)
    if isinstance(name, Path) and folder.is_dir():
        return folder
    if str(name) == DEFAULT:
        if not has_weights(BUNDLED):
            raise StreamcorefError("this installation has no bundled model; name a model folder or a model on the hub")
        return BUNDLED
    installed = installed_folder(str(name))
    if installed is not None:
        return installed
    if folder.is_dir():
        return folder
    if folder.is_absolute() or str(name).startswith(".") or str(name).count("/") != 1:
        raise no_such_model(str(name))
    try:
        return fetched(str(name), MODEL_FILES, revision)
    except StreamcorefError as error:
        raise StreamcorefError(f"there is no model folder {name}, and {error}") from error


def load_tokenizer(name: str | Path) -> PieceTokenizer:
    """The tokenizer of a folder or of a model on the hub."""
    folder = folder_of(name, TOKENIZER_FILES)
    vocabulary = plain_vocabulary(folder)
    if vocabulary is not None:
        return word_pieces(vocabulary)
    with tokenizer_faults(name):
        tokenizer = PieceTokenizer(load_auto_tokenizer(folder))
        tokenizer(_TRIAL)
    return tokenizer
