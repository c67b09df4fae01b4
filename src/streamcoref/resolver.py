"""The Resolver: a model, ready to resolve texts, many texts, or a text that flows."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from streamcoref._importing import no_collections
from streamcoref._inputs import Speakers, Turns, checked_turns, document_from_turns, document_from_words
from streamcoref._many import AHEAD, CutText, ResolveInput, resolve_ahead
from streamcoref._precisions import FLOAT32, PrecisionName
from streamcoref._workers import resolve_in_processes
from streamcoref.document import Document
from streamcoref.errors import LanguageWarning, StreamcorefError
from streamcoref.language.is_english import is_english
from streamcoref.model.checkpoint import DEFAULT, Checkpoint, find_checkpoint, load_checkpoint
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.parts import load_code, loaded_code
from streamcoref.model.precision import check_precision, use_precision
from streamcoref.model.predict import Watch, predict
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.register import NewRegister, Ring
from streamcoref.model.state import State
from streamcoref.options import ResolveOptions
from streamcoref.progress import OnProgress, ReadingProgress
from streamcoref.stream import Stream, saved_options
from streamcoref.text import document_from_text

if TYPE_CHECKING:
    from streamcoref.evaluation import Evaluation
    from streamcoref.integrations.model_card import Figures
    from streamcoref.progress import ShouldStop
    from streamcoref.store import Store

__all__ = ["ResolveInput", "ResolveOptions", "Resolver", "load", "resolve_file"]


def load(
    model: str | Path | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    revision: str | None = None,
    precision: PrecisionName = FLOAT32,
) -> Resolver:
    """A model by its name (of an installed one, or on the hub) or its folder; without, the one of this package.

    `device` is "cpu", "cuda" or another of torch's, or "auto": a GPU if there is one. `threads` is how many of the
    CPU torch may use in this whole process. `revision` is a branch, tag or commit on the hub. `precision` is "float32",
    or "int8": the encoder's linear layers in 8-bit integers, faster on CPUs with VNNI, for nearly the same answers.
    """
    if threads is not None:
        if threads < 1:
            raise StreamcorefError(f"threads is {threads}; give at least 1, or none to leave the choice to torch")
        torch.set_num_threads(threads)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() and precision == FLOAT32 else "cpu"
    try:
        known = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        said = str(error).strip().splitlines()[0]
        raise StreamcorefError(f"torch cannot use the device {device!r} here: {said}") from error
    check_precision(precision, known)
    folder = find_checkpoint(DEFAULT if model is None else model, revision)
    with no_collections():  # the first time this imports transformers
        checkpoint = load_checkpoint(folder.resolve(), known)
        use_precision(checkpoint.model, precision)
    return Resolver(checkpoint, folder.resolve())


def resolve_file(source: str | Path, target: str | Path, *, model: str | Path | None = None, **arguments: Any) -> Store:
    """`load(model)` and its `resolve_file`, whose arguments see."""
    return load(model).resolve_file(source, target, **arguments)


class Resolver:
    """Made by `load`. It is never changed by what it reads, so that threads may share it.

    All texts that it reads share one encoder and the tables of the pair features, which are the same for each genre
    and scheme.
    """

    def __init__(self, checkpoint: Checkpoint, folder: Path, service: SegmentService | None = None) -> None:
        """`service` encodes the segments of all texts; without one that is done in this process."""
        self.checkpoint = checkpoint
        self.folder = folder  # where the model was read from, and worker processes read it again
        self._encoder = service or checkpoint.model.service()
        self._readings: dict[tuple[str | None, str | None], Reading] = {}  # by genre and scheme, of which there are few

    def __copy__(self) -> Resolver:
        """Itself: nothing that it reads changes it."""
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Resolver:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the model is read again from its folder, which must still hold the same one."""
        if not self.folder.is_dir():
            raise StreamcorefError(f"this resolver cannot be sent elsewhere: its model is in no folder ({self.folder})")
        device = str(self.checkpoint.model.device)
        return _load_again, (self.folder, device, loaded_code(), self.fingerprint, self.precision)

    @cached_property
    def fingerprint(self) -> str:
        """Of the config, the tokenizer and the weights: the same for the same model wherever it lies.

        Weights in 8-bit integers are others, and so is what they answer.
        """
        model, config, tokenizer = self.checkpoint
        digest = hashlib.blake2b(digest_size=16)
        for part in (config.model_dump(mode="json"), tokenizer.definition()):
            digest.update(json.dumps(part, sort_keys=True).encode())
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    @property
    def precision(self) -> PrecisionName:
        """In which numbers the encoder computes, as `load` was told."""
        return self.checkpoint.model.encoder.precision

    @property
    def segments_under_way(self) -> int:
        """Of all texts and streams: those that are being encoded, or wait for it."""
        return self._encoder.under_way

    def resolve(
        self,
        text: str | None = None,
        *,
        words: Sequence[Sequence[str]] | None = None,
        speakers: Speakers | None = None,
        turns: Turns | None = None,
        document: Document | None = None,
        key: str = "text",
        on_progress: OnProgress | None = None,
        **options: Any,
    ) -> Document:
        """A text, or `words` (a list a sentence), or `turns` (pairs of speaker and text), with its entities.

        `speakers` go with words: for each sentence a name, or a list of names, one a word. The texts of turns are
        joined by line ends into the document's text. A `document` is answered as it is, whatever its clusters.
        `on_progress` is called with a ReadingProgress after each segment. For the options see ResolveOptions. A text
        that is not English brings a LanguageWarning.
        """
        chosen = self._options(options)
        text_cut = self._cut(chosen, text=text, words=words, speakers=speakers, turns=turns, document=document, key=key)
        watch = None if on_progress is None else _watch(text_cut.document, on_progress)
        return self._answer(text_cut, chosen, self._encoder, watch)

    def watched(self, document: Document, watch: Watch, **options: Any) -> Document:
        """As `resolve` answers a document; `watch` is told of each segment's spans and decisions as they come."""
        chosen = self._options(options)
        return self._answer(self._cut(chosen, document=document), chosen, self._encoder, watch)

    def _cut(
        self,
        chosen: ResolveOptions,
        *,
        text: str | None = None,
        words: Sequence[Sequence[str]] | None = None,
        speakers: Speakers | None = None,
        turns: Turns | None = None,
        document: Document | None = None,
        key: str = "text",
    ) -> CutText:
        """What `resolve` is given, as segments."""
        if sum(given is not None for given in (text, words, turns, document)) != 1:
            raise StreamcorefError("give one of text, words, turns and document to resolve")
        if speakers is not None and words is None:
            raise StreamcorefError("speakers go with words; for text give turns, pairs (speaker, text)")
        if words is not None:
            document = document_from_words(key, words, speakers)
        elif turns is not None:
            document = document_from_turns(key, checked_turns(turns))
        elif document is None:
            if not isinstance(text, str):
                raise StreamcorefError(f"a text to resolve is a str, not {type(text).__name__}; decode bytes first")
            document = document_from_text(key, text)
        if not is_english(document.words):
            warnings.warn(LanguageWarning(), stacklevel=3)  # who called `resolve`
        if chosen.genre is not None:
            document = replace(document, genre=chosen.genre)
        reading = self._reading(chosen, self.checkpoint.config.genre_of(document))
        return CutText(document, self.checkpoint.segmenter.cut(document), reading)

    def _answer(
        self, text: CutText, chosen: ResolveOptions, encoder: SegmentService, watch: Watch | None = None
    ) -> Document:
        return predict(
            self.checkpoint.model,
            text.segments,
            text.document,
            text.reading,
            encoder,
            chosen.singletons,
            chosen.min_score,
            watch,
            self._known_people(text, encoder) if chosen.passes > 1 else None,
        )

    def _known_people(self, text: CutText, encoder: SegmentService) -> State:
        """A first pass over a text: the state to read it once more with."""
        model = self.checkpoint.model
        assert isinstance(model, IncrementalModel)  # `ResolveOptions.check`
        state = model.new_state()
        for _ in model.read(text.segments, text.reading, encoder, state):
            pass
        return model.again(state, text.reading)

    def resolve_file(
        self,
        source: str | Path,
        target: str | Path,
        *,
        encoding: str = "utf-8",
        errors: str = "strict",
        format: str | None = None,  # noqa: A002
        force: bool = False,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
        **options: Any,
    ) -> Store:
        """A text of any length into a store, in constant memory: the SQLite file `target`, returned to be read.

        Called again after it was killed or stopped, at any moment, it goes on from what was saved last; a complete
        store is returned as it is. `source` is a file, or `-`: plain text in `encoding`, a book (EPUB, HTML, Markdown,
        Word, PDF) whose text is kept in the store, or one document in another of our formats; which, is recognised or
        named by `format`. `force` replaces a `target` that is there.

        `on_progress` is called with a ReadingProgress after each part of the text. `should_stop` is asked between
        two parts, and while a pipe is waited for: when it says True, everything is saved, and StoppedError raised.
        """
        from streamcoref.store.job import resolve_file

        return resolve_file(
            self,
            source,
            target,
            options,
            encoding=encoding,
            errors=errors,
            format=format,
            force=force,
            on_progress=on_progress,
            should_stop=should_stop,
        )

    def resolve_many(
        self, texts: Iterable[ResolveInput], *, workers: int = 1, ahead: int = AHEAD, **options: Any
    ) -> Iterator[Document]:
        """Documents in the order of the texts, each as soon as it is done; `texts` may be endless.

        A text is a str, or a mapping with the arguments of `resolve` by name. Short texts are taken `ahead`, so that
        those of one length share a pass of the encoder; the answers are those of `resolve`. With 1 each is answered
        before the next is taken. `workers` above 1 are processes, each with the model and one thread of the CPU; no
        more than twice as many texts are taken ahead then.
        """
        chosen = self._options(options)
        if isinstance(texts, str | bytes | Mapping):
            raise StreamcorefError(
                f"resolve_many takes several texts, such as a list of them, not {type(texts).__name__}; give [text], "
                "or call resolve"
            )
        if workers < 1:
            raise StreamcorefError(f"workers is {workers}; give at least 1")
        if ahead < 1:
            raise StreamcorefError(f"ahead is {ahead}; give at least 1")
        if workers == 1:
            return resolve_ahead(
                texts,
                ahead,
                self._encoder,
                lambda arguments: self._cut(chosen, **arguments),
                lambda text, encoder: self._answer(text, chosen, encoder),
            )
        device = str(self.checkpoint.model.device)
        return resolve_in_processes(texts, workers, self.folder, device, self.precision, options)

    def stream(self, state: bytes | None = None, *, key: bytes | None = None, **options: Any) -> Stream:
        """A text that flows. With the `state` of another stream it goes on where that one was, with its options.

        `key` is the one that the state was sealed with by `Stream.state(key)`; no other state is taken then.
        """
        return self._stream(state, key, options)

    def stream_into(self, register: NewRegister, state: bytes | None, options: Mapping[str, Any]) -> Stream:
        """As `stream`, for a store: whoever may come back is in a register of its own, not in the stream's state."""
        return self._stream(state, None, options, register)

    def _stream(
        self, state: bytes | None, key: bytes | None, options: Mapping[str, Any], register: NewRegister = Ring
    ) -> Stream:
        chosen = saved_options(state, key) if state is not None and not options else self._options(options)
        chosen.check(self.checkpoint.config)
        if chosen.passes > 1:
            raise StreamcorefError("a stream is read once; resolve and resolve_file read a text twice")
        reading = self._reading(chosen, chosen.genre)
        told = self.checkpoint, self._encoder, reading, lambda: self.fingerprint, chosen
        return Stream(*told, state, key, register)

    def save(
        self, folder: str | Path, *, figures: Figures | Evaluation | None = None, licence: str | None = None
    ) -> None:
        """The model as a folder that `load` takes; what is there is replaced.

        Its card is made from the config and the `figures`: an Evaluation, or numbers in per cent by corpus and metric,
        as `{"LitBank dev": {"CoNLL F1": 64.7}}`. The card that the model had follows below.
        """
        from streamcoref.integrations.hub import save_model

        save_model(self, Path(folder), figures, licence)

    def push_to_hub(
        self,
        name: str,
        *,
        private: bool = False,
        revision: str | None = None,
        message: str = "A streamcoref model",
        token: str | None = None,
        figures: Figures | Evaluation | None = None,
        licence: str | None = None,
    ) -> str:
        """What `save` writes, as a commit to the hub's repository `owner/model`, which is made; its address.

        `load(name)` takes it from there. `revision` is a branch; `token` is only needed if nobody has logged in.
        """
        from streamcoref.integrations.hub import push_model

        return push_model(
            self,
            name,
            private=private,
            revision=revision,
            message=message,
            token=token,
            figures=figures,
            licence=licence,
        )

    def _options(self, given: Mapping[str, Any]) -> ResolveOptions:
        options = ResolveOptions.of(given)
        options.check(self.checkpoint.config)
        return options

    def _reading(self, options: ResolveOptions, genre: str | None) -> Reading:
        """A genre that the model does not know is no genre: documents may come with any."""
        model, config, _ = self.checkpoint
        labels = genre if genre in config.genres else None, options.scheme
        if labels not in self._readings:
            with torch.inference_mode():
                self._readings[labels] = model.reading(*labels)
        merge = config.merge if options.merge is None else options.merge
        revive = config.revive if options.revive is None else options.revive
        evict = (options.evict or config.evict).build()
        return replace(self._readings[labels], evict=evict, merge=merge, revive=revive)


def _load_again(
    folder: Path, device: str, code: Sequence[Path], fingerprint: str, precision: PrecisionName
) -> Resolver:
    """What a resolver is on its way to another process."""
    for file in code:
        load_code(file)
    resolver = load(folder, device=device, precision=precision)
    if resolver.fingerprint != fingerprint:
        raise StreamcorefError(f"{folder}: this is no longer the model that was sent; load it anew")
    return resolver


def _watch(document: Document, on_progress: OnProgress) -> Watch:
    """Tells how far a document has been read."""
    length = len(document.words) if document.text is None else len(document.text)

    def watch(result: SegmentResult) -> None:
        segment = result.spans[-1].segment
        words = segment.first_word + len(segment.words)
        read = words if document.text is None else document.offsets[words - 1][1]
        on_progress(ReadingProgress(read, length, words, result.alive or 0))

    return watch
