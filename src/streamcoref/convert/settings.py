"""The config of an imported model: a preset's settings, with the sizes that the tensors have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamcoref.convert.name_map import ImportKind, NameMap
from streamcoref.convert.sources import CheckpointSource, SourceTensor, encoder_config_of
from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.model.config import ModelConfig, parse_config, preset
from streamcoref.model.encoder import Encoder

BASE_HIDDEN = 768
# Keys of Hugging Face configurations that say where a model came from, not what it is.
_ORIGIN = ("architectures", "_name_or_path", "transformers_version", "torch_dtype", "dtype", "finetuning_task")


def default_preset(kind: ImportKind, hidden: int) -> str:
    size = "base" if hidden <= BASE_HIDDEN else "large"
    return f"{'baseline' if kind == 'baseline' else 'paper'}-spanbert-{size}"


def read_sizes(names: NameMap, kind: ImportKind, tensors: Mapping[str, SourceTensor], path: Path) -> dict[str, int]:
    """The values of `names.sizes`, and of a baseline those of `names.baseline_sizes`, from the shapes."""
    sizes = {}
    wanted = names.sizes | names.baseline_sizes if kind == "baseline" else names.sizes
    for key, (tensor, side) in wanted.items():
        if tensor not in tensors:
            raise InputError(f"misses {tensor}", path)
        shape = tensors[tensor].shape
        if side >= len(shape):
            raise InputError(f"{tensor} has shape {list(shape)}, which is too flat to have a side {side}", path)
        sizes[key] = shape[side]
    return sizes


def encoder_architecture(source: CheckpointSource, names: NameMap, hidden: int, folder: Path) -> dict[str, Any]:
    """The Hugging Face configuration of the encoder: the one in the folder, else a preset's of the same width.

    Shapes do not tell everything: the number of attention heads is only in a configuration.
    """
    given = encoder_config_of(folder)
    if given is None:
        known = preset(default_preset("incremental", hidden)).encoder.architecture
        assert known is not None
        if known["hidden_size"] != hidden:
            raise InputError(
                f"the encoder is {hidden} wide, which no published one is, and there is no bert_config.json or "
                "config.json here to tell its attention heads",
                folder,
                remedy=Remedy.ENCODER,
            )
        given = known
    architecture = {key: value for key, value in given.items() if key not in _ORIGIN}
    architecture.setdefault("model_type", "bert")  # those of before it had to be said
    if architecture.get("hidden_size", hidden) != hidden:
        raise InputError(
            f"the encoder's configuration says hidden_size {architecture['hidden_size']}, "
            f"but the tensors of {source.path} are {hidden} wide",
            folder,
        )
    _check_layers(source, names, architecture, folder)
    return architecture


def _check_layers(source: CheckpointSource, names: NameMap, architecture: dict[str, Any], folder: Path) -> None:
    if names.layers is None:
        return
    count = names.count_layers(list(source.tensors))
    whole = names.to_theirs("encoder.model.embeddings.word_embeddings.weight")
    said = architecture.get("num_hidden_layers")
    # The authors' later checkpoints hold only the layers that were trained; the others come from elsewhere.
    if whole is not None and whole[0] in source.tensors and said is not None and count != said:
        raise InputError(
            f"the encoder's configuration says num_hidden_layers {said}, but {source.path} has {count}", folder
        )


def model_config(
    kind: ImportKind,
    preset_name: str,
    sizes: Mapping[str, int],
    settings: Mapping[str, Any],
    architecture: dict[str, Any],
    max_pieces: int | None,
    encoder: Encoder,
    path: Path,
) -> ModelConfig:
    """The preset with `sizes` and `settings` (by dotted names) laid over it, and the encoder put in.

    `encoder` need have no numbers. Of a preset's pieces a segment and layers it may have fewer; then all are used.
    """
    base = preset(preset_name)
    if base.kind != kind:
        raise StreamcorefError(f"the preset {preset_name} makes a model of kind {base.kind}, not {kind}")
    if sizes.get("genres", len(base.genres)) != len(base.genres):
        raise InputError(
            f"has {sizes['genres']} genres, but the preset {preset_name} has {len(base.genres)}: "
            f"{', '.join(base.genres)}",
            path,
        )
    values: dict[str, Any] = base.model_dump(mode="json")
    for key, value in (*sizes.items(), *settings.items()):
        if "." in key:
            *tables, last = key.split(".")
            table = values
            for name in tables:
                table = _inside(table, name)
            table[last] = value
    layers = min(base.encoder.layers, encoder.model.config.num_hidden_layers + 1)  # its embeddings count as one
    values["encoder"] |= {"name": None, "architecture": architecture, "layers": layers}
    wanted = max_pieces or base.segments.max_pieces
    values["segments"]["max_pieces"] = min(wanted, encoder.max_pieces or wanted)
    return parse_config(values, str(path))


def _inside(table: Any, name: str) -> Any:
    """A table of a config by its key; in a list of parts, the one of that name."""
    return table[name] if isinstance(table, dict) else next(part for part in table if part["name"] == name)
