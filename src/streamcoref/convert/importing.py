"""Published checkpoints into models of ours, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from streamcoref.convert.account import Account, account, check_complete
from streamcoref.convert.name_map import ImportKind, NameMap, Shape, encoder_map, read_map
from streamcoref.convert.settings import default_preset, encoder_architecture, model_config, read_sizes
from streamcoref.convert.sources import (
    CheckpointSource,
    encoder_config_of,
    has_encoder_weights,
    read_encoder_weights,
    recognise,
)
from streamcoref.convert.vocabulary_file import find_tokenizer
from streamcoref.convert.writing import ENCODER, Conversion, Imported, write_model
from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.config import preset as read_preset
from streamcoref.model.encoder import Encoder, random_encoder
from streamcoref.model.tokenizer import PieceTokenizer

TITLES = {
    "baseline_tf": "the whole-document baseline of Joshi et al. (2019), a TensorFlow checkpoint",
    "incremental_torch": "the incremental model of Xia et al. (2020), the authors' PyTorch checkpoint",
    "scorer_vars": "the scorers of the baseline, as the authors of the incremental model converted them",
    "encoder_folder": "a pretrained encoder",
}


def import_checkpoint(
    source: str | Path,
    out: str | Path,
    kind: ImportKind | None = None,
    preset: str | None = None,
    encoder: str | Path | None = None,
    tokenizer: str | Path | None = None,
    max_pieces: int | None = None,
    force: bool = False,
) -> Imported:
    """Convert the checkpoint at `source` into the folder `out`, a model of ours or (kind "encoder") a plain encoder.

    `encoder` is a Hugging Face folder for what the source lacks: the encoder's configuration, weights, tokenizer.
    """
    source, out = Path(source), Path(out)
    encoder, tokenizer = (None if path is None else Path(path) for path in (encoder, tokenizer))
    found = recognise(source)
    _check_output(out, [found.folder, *_given(encoder)], force)
    if found.map == "encoder_folder":
        if encoder is not None:
            raise StreamcorefError(f"{source} is an encoder itself", Remedy.NO_ENCODER)
        return _import_encoder(found, out, kind, preset, tokenizer, max_pieces)
    if preset is not None:
        raise StreamcorefError(f"{source} has sizes of its own", Remedy.NO_PRESET)
    return _import_model(found, out, kind, encoder, tokenizer, max_pieces)


def _import_model(
    found: CheckpointSource,
    out: Path,
    kind: ImportKind | None,
    encoder: Path | None,
    tokenizer: Path | None,
    max_pieces: int | None,
) -> Imported:
    names = read_map(found.map)
    kind = _check_kind(kind, names.kinds, found)
    sizes = read_sizes(names, kind, found.tensors, found.path)
    hidden = sizes.pop("hidden_size")
    architecture = encoder_architecture(found, names, hidden, encoder or found.folder)
    meta = _meta_encoder(architecture)
    preset = default_preset(kind, hidden)
    config = None
    if kind != "encoder":
        length = max_pieces or names.segments.get(found.folder.resolve().name)
        config = model_config(kind, preset, sizes, names.settings, architecture, length, meta, found.path)
    wanted = _wanted(config, meta)
    done = account(found.tensors, names, wanted, kind, found.path)
    done = Account(done.taken, {**done.dropped, **found.dropped})
    if names.encoder_elsewhere:
        done = _fill_encoder(done, wanted, kind, found, encoder or found.folder)
    check_complete(done, names, wanted, found.path)
    pieces = _tokenizer(tokenizer, [found.folder, *_given(encoder)], meta)
    return write_model(out, Conversion(found, TITLES[found.map], kind, preset, config, meta, pieces, wanted, done))


def _import_encoder(
    found: CheckpointSource,
    out: Path,
    kind: ImportKind | None,
    preset: str | None,
    tokenizer: Path | None,
    max_pieces: int | None,
) -> Imported:
    given = encoder_config_of(found.folder)
    if given is None:
        raise InputError("there are weights but no config.json of an encoder; fetch it from the same place", found.path)
    bare = NameMap("encoder_folder", (), (), (), ())
    architecture = encoder_architecture(found, bare, given.get("hidden_size", 0), found.folder)
    meta = _meta_encoder(architecture)
    names = encoder_map(set(found.tensors), list(meta.model.state_dict()))
    if kind is None and preset is not None:
        kind = read_preset(preset).kind
    kind = _check_kind(kind, names.kinds, found)
    config = None
    if kind == "encoder":
        if preset is not None:
            raise StreamcorefError("a plain encoder has no preset", Remedy.KIND)
    else:
        preset = preset or default_preset(kind, meta.hidden_size)
        config = model_config(kind, preset, {}, {}, architecture, max_pieces, meta, found.path)
    wanted = _wanted(config, meta)
    done = account(found.tensors, names, wanted, kind, found.path)
    check_complete(done, names, wanted, found.path)
    pieces = _tokenizer(tokenizer, [found.folder], meta)
    return write_model(out, Conversion(found, TITLES[found.map], kind, preset, config, meta, pieces, wanted, done))


def _check_kind(kind: ImportKind | None, kinds: tuple[ImportKind, ...], found: CheckpointSource) -> ImportKind:
    if kind is None:
        return kinds[0]
    if kind not in kinds:
        raise StreamcorefError(f"{found.path} is {TITLES[found.map]}: it makes {' or '.join(kinds)}, not {kind}")
    return kind


def _meta_encoder(architecture: dict[str, Any]) -> Encoder:
    """The encoder without numbers: only names and shapes."""
    with torch.device("meta"):
        return Encoder(random_encoder(architecture))


def _wanted(config: ModelConfig | None, meta: Encoder) -> dict[str, Shape]:
    """Names and shapes of the tensors to be written, by their names in a model of ours."""
    if config is None:
        return {f"{ENCODER}{name}": tuple(tensor.shape) for name, tensor in meta.model.state_dict().items()}
    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in build_model(config).state_dict().items()}


def _fill_encoder(
    done: Account, wanted: Mapping[str, Shape], kind: ImportKind, found: CheckpointSource, folder: Path
) -> Account:
    """What the source lacks of the encoder, from the folder of one."""
    lacking = {name: shape for name, shape in wanted.items() if name.startswith(ENCODER) and name not in done.taken}
    if not lacking:
        return done
    if encoder_config_of(folder) is None or not has_encoder_weights(folder):
        raise InputError(
            f"{len(lacking)} tensors of the encoder are not in it, and {folder} has no encoder either",
            found.path,
            remedy=Remedy.ENCODER,
        )
    tensors = read_encoder_weights(folder)
    whole = {name: shape for name, shape in wanted.items() if name.startswith(ENCODER)}
    names = encoder_map(set(tensors), [name.removeprefix(ENCODER) for name in whole])
    other = account(tensors, names, whole, kind, folder)
    check_complete(other, names, lacking, folder)
    dropped = dict(other.dropped)
    surplus = [one.tensor.shape for name, one in other.taken.items() if name not in lacking]
    if surplus:
        dropped["the checkpoint has its own"] = surplus
    return Account({**other.taken, **done.taken}, {**done.dropped, **dropped})


def _tokenizer(given: Path | None, folders: list[Path], meta: Encoder) -> PieceTokenizer:
    pieces = find_tokenizer(given, folders)
    rows = meta.model.get_input_embeddings().weight.shape[0]
    if pieces.size > rows:
        raise InputError(
            f"the tokenizer has {pieces.size} pieces, but the encoder has vectors for {rows}",
            given or folders[0],
            remedy=Remedy.TOKENIZER,
        )
    return pieces


def _check_output(out: Path, inputs: list[Path], force: bool) -> None:
    if out.is_file():
        raise InputError("this is a file; name a folder to write to", out)
    if any(out.resolve() == folder.resolve() for folder in inputs):
        raise InputError("the model cannot be written where it is read from; name another folder", out)
    if out.is_dir() and any(out.iterdir()) and not force:
        raise InputError("the folder is not empty", out, remedy=Remedy.WRITE_INTO)


def _given(path: Path | None) -> list[Path]:
    return [] if path is None else [path]
