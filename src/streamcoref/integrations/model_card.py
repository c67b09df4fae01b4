"""The card of a model, `README.md` in its folder: made from its config and, if there are any, its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamcoref.model.checkpoint import Checkpoint

if TYPE_CHECKING:
    from streamcoref.evaluation import Evaluation

# Figures by corpus and metric, in per cent: {"LitBank dev": {"CoNLL F1": 64.7}}.
Figures = Mapping[str, Mapping[str, float]]
# Below it stands the card that the model came with; a card that is made anew keeps only that part of an old one.
_BEFORE = "<!-- the card that the model had before -->"


def model_card(
    checkpoint: Checkpoint,
    title: str,
    figures: Figures | Evaluation | None = None,
    licence: str | None = None,
    before: str | None = None,
) -> str:
    """`title` is the name on the hub or of the folder, `before` the card that the model had."""
    from huggingface_hub import EvalResult, ModelCardData

    config = checkpoint.config
    results = {} if figures is None else figures if isinstance(figures, Mapping) else _by_corpus(figures)
    data = ModelCardData(
        language=config.language.name[:2],
        license=licence,
        library_name="streamcoref",
        tags=["coreference-resolution", "streamcoref"],
        base_model=config.encoder.name,
        model_name=title,
        eval_results=[
            EvalResult(
                task_type="coreference-resolution",
                dataset_type=corpus,
                dataset_name=corpus,
                metric_type=metric,
                metric_name=metric,
                metric_value=round(value, 2),
            )
            for corpus, values in results.items()
            for metric, value in values.items()
        ]
        or None,
    )
    parts = [f"---\n{data.to_yaml()}\n---", f"# {title}", _description(checkpoint), _usage(title)]
    if results:
        parts += ["## Figures", _table(results)]
    old = _without_front_matter((before or "").partition(_BEFORE)[2] or before or "")
    if old and not _is_ours(before or ""):
        parts += [_BEFORE, old]
    return "\n\n".join(parts) + "\n"


def _description(checkpoint: Checkpoint) -> str:
    model, config, _ = checkpoint
    parameters = sum(parameter.numel() for parameter in model.parameters())
    facts = {
        "parameters": f"{parameters:,}",
        "encoder": config.encoder.name or "its own",
        "pieces a segment": f"{config.segments.max_pieces:,}",
        "annotation schemes": ", ".join(config.schemes),
        "genres": ", ".join(config.genres),
        "can tell entities that are mentioned once": "yes" if config.singletons else "no",
        "pair scorer": config.pair_score.name,
    }
    if config.kind == "incremental":
        said = "Coreference for text of any length, in constant memory: an incremental model."
        facts |= {"update": config.update.name, "eviction": _evict(config.evict.model_dump(mode="json"))}
    else:
        said = "Coreference by a whole-document model: its memory grows with the text."
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    return f"{said}\n\n| | |\n|---|---|\n{rows}"


def _evict(options: Mapping[str, object]) -> str:
    values = [f"{name}={value}" for name, value in options.items() if name != "name" and value is not None]
    return ", ".join([str(options["name"]), *values])


def _usage(title: str) -> str:
    return (
        "```python\nimport streamcoref\n\n"
        f'resolver = streamcoref.load("{title}")\n'
        'document = resolver.resolve("Anna lost her keys. She looked for them everywhere.")\n```'
    )


def _table(results: Figures) -> str:
    metrics = list(dict.fromkeys(metric for values in results.values() for metric in values))
    lines = ["| | " + " | ".join(metrics) + " |", "|---|" + "---:|" * len(metrics)]
    for corpus, values in results.items():
        cells = [f"{values[metric]:.2f}" if metric in values else "" for metric in metrics]
        lines.append(f"| {corpus} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _by_corpus(evaluation: Evaluation) -> Figures:
    from streamcoref.evaluation import total_scores
    from streamcoref.evaluation.report import figures

    result = {}
    for corpus in evaluation.corpora:
        scores = total_scores(document for document in evaluation.documents if document.corpus == corpus.name)
        result[corpus.name] = {name: 100 * value for name, value in figures(scores).items()}
    return result


def _is_ours(card: str) -> bool:
    """Whether it was made here and had nothing of anybody else's in it."""
    return "library_name: streamcoref" in card.partition("\n---\n")[0] and _BEFORE not in card


def _without_front_matter(card: str) -> str:
    return card.partition("\n---\n")[2].strip() if card.startswith("---\n") else card.strip()
