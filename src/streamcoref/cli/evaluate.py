"""`streamcoref evaluate`: a model on corpora, by length, speakers and genre, alone or next to a baseline."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from streamcoref.cli.settings import PrecisionOption
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from streamcoref.document import Document
    from streamcoref.evaluation import AnsweredDocument, CorpusSettings, Evaluation, EvaluationCorpus, Table
    from streamcoref.formats import Format, Writer
    from streamcoref.formats.spool import DocumentSpool
    from streamcoref.model.checkpoint import Checkpoint

_UNLIMITED = 10_000  # characters a line
_PARTS = ("train", "dev", "test")  # names of a corpus' parts, not of a corpus


class Output(NamedTuple):
    """Where predictions go."""

    path: Path
    format: Format
    force: bool


def evaluate(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model's name, folder or hub name.", show_default=False)
    ],
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS",
            help="Files, folders, or lists of document names such as dev.ids; name=PATH gives a corpus a name.",
            show_default=False,
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A second model to compare with, row by row.")
    ] = None,
    no_evict: Annotated[bool, typer.Option("--no-evict", help="Keep all entities of a document alive.")] = False,
    evict: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Another eviction policy, by its name and options, or as JSON."),
    ] = None,
    segment_length: Annotated[
        int | None, typer.Option(metavar="N", help="Most pieces in a segment, instead of the model's own.")
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Annotation scheme to follow; else that of the corpus' name, if there is."),
    ] = None,
    singletons: Annotated[
        bool | None,
        typer.Option(
            "--singletons/--no-singletons",
            help="Keep or drop clusters of one mention; else kept where a corpus annotates them.",
            show_default=False,
        ),
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="Format of the corpora, if not to be recognised.")
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[CORPUS=]PATH",
            help="Where the types of a corpus' mentions lie, such as LitBank's tsv folder. May be repeated.",
        ),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Segments that share a pass of the encoder.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of the CPU to use.")] = None,
    precision: PrecisionOption = "float32",
    memory: Annotated[
        bool, typer.Option("--memory", help="Also measure the peak memory of tensors; slower on the CPU.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, figures from 0 to 1.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables in Markdown.")] = False,
    predictions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the documents with the clusters MODEL predicted.")
    ] = None,
    predictions_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of FILE; else its name tells. CoNLL formats cannot hold crossing mentions of one entity, "
            "which a model may predict; jsonlines holds everything.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    code: Annotated[
        list[Path] | None,
        typer.Option(metavar="PY", help="A Python file with parts that a model's config names. May be repeated."),
    ] = None,
) -> None:
    """Evaluate MODEL on corpora with gold clusters.

    Prints MUC, B3, CEAF-e, their average and mention F1 for all documents and
    each corpus; the average by length, speakers and genre; the types of
    entities, where the model tells them and the corpora too; entities alive
    at once; and the time of the encoder and of the rest. With --baseline
    every row shows both models, their difference and the share that MODEL
    loses.
    --evict, --no-evict, --segment-length, --precision and --predictions
    concern MODEL alone; --scheme also a baseline that has that scheme.

    A policy is given as two_distances:singleton=600,cluster=1200,budget=300
    or as the JSON object that a model's config.json has for it.
    """
    if as_json and as_markdown:
        raise StreamcorefError("--json and --markdown are two ways to print the same; give one of them")
    if no_evict and evict is not None:
        raise StreamcorefError("--no-evict and --evict contradict each other; give one of them")
    if predictions is None and (predictions_format is not None or force):
        raise StreamcorefError("--predictions-format and --force say how to write --predictions; give its file too")
    # What a user may have got wrong comes first, the long work last.
    chosen = _labelled(_corpora(corpora, scheme, singletons, format_name), labels or [])
    output = None if predictions is None else _output(predictions, predictions_format, force)

    if code:
        _load_code(code)

    import torch

    from streamcoref.evaluation import survey
    from streamcoref.formats import write_with
    from streamcoref.formats.spool import DocumentSpool
    from streamcoref.model.checkpoint import load_checkpoint
    from streamcoref.model.precision import check_precision, use_precision

    if threads is not None:
        torch.set_num_threads(threads)
    device = torch.device("cuda" if torch.cuda.is_available() and precision == "float32" else "cpu")
    check_precision(precision, device)
    checkpoint = _changed(load_checkpoint(model, device), "none" if no_evict else evict, segment_length)
    use_precision(checkpoint.model, precision)
    other = None if baseline is None else load_checkpoint(baseline, device)

    writer = None if output is None else _writer(output, checkpoint)
    chosen, count = survey(chosen, None if writer is None else lambda document: _check(document, writer))
    compared = failure = None
    with nullcontext() if output is None else DocumentSpool() as answered:
        result = _run(checkpoint, chosen, count, batch, memory, answered)
        if output is not None and writer is not None and answered is not None:
            try:
                write_with(writer, answered, output.path, force=output.force)
            except StreamcorefError as error:
                failure = error  # figures that took hours are not lost for it
    if other is not None:
        unschemed = [c if c.scheme in other.config.schemes else replace(c, scheme=None) for c in chosen]
        compared = _run(other, unschemed, count, batch, memory)
    if as_json:
        import json

        from streamcoref.evaluation import to_dict

        typer.echo(json.dumps(to_dict(result, compared), ensure_ascii=False))
    else:
        _print(result, compared, as_markdown)
    if failure is not None:
        raise failure
    if output is not None:
        documents = "document" if count == 1 else "documents"
        typer.echo(f"{output.path}: {count:,} {documents} as {output.format.name}", err=True)


def _load_code(files: Iterable[Path]) -> None:
    from streamcoref.model.parts import load_code  # type: ignore[attr-defined,unused-ignore]

    for file in files:
        load_code(file)


def _corpora(
    given: Sequence[str], scheme: str | None, singletons: bool | None, format_name: str | None
) -> list[EvaluationCorpus]:
    from streamcoref.corpora import corpus_files
    from streamcoref.evaluation.results import EvaluationCorpus

    corpora: dict[str, EvaluationCorpus] = {}
    for text in given:
        name, path = _name_and_path(text)
        corpus_files(path)
        if name in corpora:
            raise StreamcorefError(f"two corpora are called {name}; name them yourself, as in other={path}")
        corpora[name] = EvaluationCorpus(name, path, scheme, singletons, format_name)
    return list(corpora.values())


def _labelled(corpora: list[EvaluationCorpus], labels: Sequence[str]) -> list[EvaluationCorpus]:
    """The corpora with the paths of their labels: `corpus=path`, or a path alone if there is one corpus."""
    from streamcoref.corpora import corpus_files

    paths: dict[str, Path] = {}
    for text in labels:
        name, equals, rest = text.partition("=")
        if not equals or Path(text).exists():
            if len(corpora) > 1:
                raise StreamcorefError(f"--labels {text}: say whose they are, as in {corpora[0].name}={text}")
            name, rest = corpora[0].name, text
        if name not in (corpus.name for corpus in corpora):
            known = ", ".join(corpus.name for corpus in corpora)
            raise StreamcorefError(f"--labels {text}: there is no corpus called {name}; there are {known}")
        corpus_files(rest)
        paths[name] = Path(rest)
    return [replace(corpus, labels=paths.get(corpus.name)) for corpus in corpora]


def _name_and_path(text: str) -> tuple[str, Path]:
    """`name=path`, or the name of a file without its suffix or of a folder; litbank/dev.ids is called litbank."""
    from streamcoref.formats.files import plain_name

    name, equals, rest = text.partition("=")
    if equals and name and "/" not in name and not Path(text).exists():
        return name, Path(rest)
    path = Path(text)
    whole = path.resolve()
    stem = whole.name if whole.is_dir() else Path(plain_name(whole)).stem
    return (whole.parent.name if stem in _PARTS else stem), path


def _output(path: Path, format_name: str | None, force: bool) -> Output:
    from streamcoref.formats import format_named, format_of_output, writer_of
    from streamcoref.formats.files import STANDARD, check_output

    if path == STANDARD:
        raise StreamcorefError("--predictions: standard output is for the tables; name a file")
    try:
        found = format_of_output(path) if format_name is None else format_named(format_name)
    except StreamcorefError as error:
        if format_name is not None:
            raise
        raise StreamcorefError(f"{error.problem}; add --predictions-format FORMAT") from None
    check_output(path, force=force)
    if not found.needs_tokenizer:
        writer_of(found)  # refuses a format that documents cannot be written in
    return Output(path, found, force)


def _writer(output: Output, checkpoint: Checkpoint) -> Writer:
    """Pieces are those of the model, in its segments."""
    from streamcoref.formats import piece_writer, writer_of

    if output.format.needs_tokenizer:
        return piece_writer(checkpoint.tokenizer.tokenizer, checkpoint.config.segments.max_pieces)
    return writer_of(output.format)


def _check(document: Document, writer: Writer) -> None:
    """Words or names that the format of the predictions cannot hold show now, not after hours."""
    writer([replace(document, predicted_clusters=())], io.StringIO())


def _changed(checkpoint: Checkpoint, evict: str | None, segment_length: int | None) -> Checkpoint:
    from streamcoref.evaluation.changes import with_eviction, with_segment_length

    if evict is not None:
        checkpoint = with_eviction(checkpoint, evict)
    if segment_length is not None:
        checkpoint = with_segment_length(checkpoint, segment_length)
    return checkpoint


def _run(
    checkpoint: Checkpoint,
    corpora: list[EvaluationCorpus],
    count: int,
    batch: int,
    memory: bool,
    answered: DocumentSpool | None = None,
) -> Evaluation:
    """The evaluation; the documents with their predictions are set aside for those who want them."""
    from streamcoref.evaluation import Evaluation, answers, settle

    settings = [settle(corpus, checkpoint.config) for corpus in corpora]
    results = []
    for document, result in _with_progress(answers(checkpoint, corpora, settings, batch, memory), count):
        results.append(result)
        if answered is not None:
            answered.add(document)
    return Evaluation(settings, results)


def _with_progress(answered: Iterator[AnsweredDocument], count: int) -> Iterator[AnsweredDocument]:
    """A bar on a terminal, nothing elsewhere."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(answered, "documents", count, console=console, transient=True, disable=not console.is_terminal)


def _print(result: Evaluation, compared: Evaluation | None, as_markdown: bool) -> None:
    from streamcoref.evaluation import markdown, tables

    for table in tables(result, compared):
        if as_markdown:
            typer.echo(markdown(table))
        else:
            _print_table(table)
    for corpus in result.corpora:
        typer.echo(_note(corpus))


def _note(corpus: CorpusSettings) -> str:
    silent = "" if corpus.answers_singletons or not corpus.singletons else ", of which this model answers none"
    return f"{corpus.name}: scheme {corpus.scheme}, singletons {'kept' if corpus.singletons else 'dropped'}{silent}"


def _print_table(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=table.title, title_justify="left")
    for number, column in enumerate(table.columns):
        # "MUC P" stands in two lines: a column is then no wider than its figures
        shown.add_column(column.replace(" ", "\n", 1), justify="right" if number else "left", no_wrap=True)
    for section in table.sections:
        for row in section:
            shown.add_row(*row)
        shown.add_section()
    console = Console(highlight=False, markup=False)
    console.width = _UNLIMITED
    console.width = console.measure(shown).maximum  # whatever the terminal's: figures cut off would be no figures
    console.print(shown)
