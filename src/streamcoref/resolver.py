"""The Resolver: a model, ready to resolve texts, many texts, or a text that flows."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation.changes import parse_eviction, with_eviction
from streamcoref.events import Event, with_answer
from streamcoref.inputs import Speakers, Turns, checked_turns, document_from_turns, document_from_words
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import DEFAULT, Checkpoint, find_checkpoint, load_checkpoint
from streamcoref.model.parts import EvictionOptions
from streamcoref.model.predict import predict
from streamcoref.stream import ResolveOptions, Stream, saved_options
from streamcoref.text import document_from_text
from streamcoref.workers import Input, resolve_in_processes, resolve_one

__all__ = ["Input", "ResolveOptions", "Resolver", "load"]


class OptionValues(TypedDict, total=False):
    """The fields of ResolveOptions, as keyword arguments."""

    singletons: bool
    min_score: float
    scheme: str | None
    genre: str | None
    evict: str | Mapping[str, Any] | None


def load(
    model: str | Path | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    revision: str | None = None,
) -> Resolver:
    """A model by the name of its folder or its name on the hub; without one, the model that comes with the package.

    `device` is "cpu", "cuda" or another of torch's, or "auto": a GPU if there is one. `threads` is how many of the
    CPU torch may use in this whole process. `revision` is a branch, tag or commit on the hub.
    """
    import torch

    if threads is not None:
        if threads < 1:
            raise StreamcorefError(f"threads is {threads}; give at least 1, or none to leave the choice to torch")
        torch.set_num_threads(threads)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        known = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        said = str(error).strip().splitlines()[0]
        raise StreamcorefError(f"torch cannot use the device {device!r} here: {said}") from error
    folder = find_checkpoint(DEFAULT if model is None else model, revision)
    return Resolver(load_checkpoint(folder.resolve(), known), folder.resolve())


class Resolver:
    """Made by `load`. It is never changed by what it reads, so that threads may share it."""

    def __init__(self, checkpoint: Checkpoint, folder: Path) -> None:
        self.checkpoint = checkpoint
        self.folder = folder  # where the model was read from, and worker processes read it again

    @cached_property
    def fingerprint(self) -> str:
        """Of the config, the tokenizer and the weights: the same for the same model wherever it lies."""
        model, config, tokenizer = self.checkpoint
        digest = hashlib.blake2b(digest_size=16)
        for part in (config.model_dump(mode="json"), tokenizer.definition()):
            digest.update(json.dumps(part, sort_keys=True).encode())
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def resolve(
        self,
        text: str | None = None,
        *,
        words: Sequence[Sequence[str]] | None = None,
        speakers: Speakers | None = None,
        turns: Turns | None = None,
        key: str = "text",
        **options: Unpack[OptionValues],
    ) -> Document:
        """A text, or `words` (a list a sentence), or `turns` (pairs of speaker and text), with its entities.

        `speakers` go with words: for each sentence a name, or a list of names, one a word. The texts of turns are
        joined by line ends into the document's text. For the options see ResolveOptions.
        """
        chosen = self._options(options)
        if sum(given is not None for given in (text, words, turns)) != 1:
            raise StreamcorefError("give one of text, words and turns to resolve")
        if speakers is not None and words is None:
            raise StreamcorefError("speakers go with words; for text give turns, pairs (speaker, text)")
        if words is not None:
            document = document_from_words(key, words, speakers)
        elif turns is not None:
            document = document_from_turns(key, checked_turns(turns))
        else:
            if not isinstance(text, str):
                raise StreamcorefError(f"a text to resolve is a str, not {type(text).__name__}; decode bytes first")
            document, turns = document_from_text(key, text), [(None, text)]
        document = replace(document, genre=chosen.genre)
        model, config, tokenizer = self.checkpoint
        if isinstance(model, BaselineModel):
            return predict(
                model, config, tokenizer, document, chosen.scheme, chosen.singletons, min_score=chosen.min_score
            )
        return with_answer(document, _read_all(self._stream(chosen), turns or (), words or (), speakers))

    def resolve_many(
        self, texts: Iterable[Input], *, workers: int = 1, **options: Unpack[OptionValues]
    ) -> Iterator[Document]:
        """Documents in the order of the texts, each as soon as it is done; `texts` may be endless.

        A text is a str, or a mapping with the arguments of `resolve` by name. `workers` above 1 are processes, each
        with the model and one thread of the CPU; no more than twice as many texts are taken ahead.
        """
        self._options(options)
        if workers < 1:
            raise StreamcorefError(f"workers is {workers}; give at least 1")
        if workers == 1:
            return (resolve_one(self, number, given, options) for number, given in enumerate(texts))
        device = str(next(self.checkpoint.model.parameters()).device)
        return resolve_in_processes(texts, workers, self.folder, device, options)

    def stream(self, state: bytes | None = None, **options: Unpack[OptionValues]) -> Stream:
        """A text that flows. With the `state` of another stream it goes on where that one was, with its options."""
        chosen = self._options(options)
        if state is not None and not options:
            chosen = saved_options(state)
        return self._stream(chosen, state)

    def _stream(self, options: ResolveOptions, state: bytes | None = None) -> Stream:
        checkpoint = self.checkpoint
        if isinstance(options.evict, Mapping):
            # A copy that shares all weights: other streams of this resolver keep their own policy.
            checkpoint = checkpoint._replace(model=copy.copy(checkpoint.model))
            checkpoint = with_eviction(checkpoint, EvictionOptions.choose(dict(options.evict)))
        return Stream(checkpoint, self.fingerprint, options, state)

    def _options(self, given: OptionValues) -> ResolveOptions:
        """The options, checked against the model; the eviction policy as the table of a config."""
        known = [field.name for field in fields(ResolveOptions)]
        for name in given:
            if name not in known:
                raise StreamcorefError(f"there is no option {name!r}; the options are {', '.join(known)}")
        options = ResolveOptions(**given)
        if not isinstance(options.singletons, bool):
            raise StreamcorefError(f"singletons is {options.singletons!r}; give True or False")
        if not isinstance(options.min_score, int | float) or not 0 <= options.min_score <= 1:
            raise StreamcorefError(f"min_score is {options.min_score!r}; give a probability, from 0 to 1")
        config = self.checkpoint.config
        for kind, chosen, names in (
            ("scheme", options.scheme, config.schemes),
            ("genre", options.genre, config.genres),
        ):
            if chosen is not None and chosen not in names:
                raise StreamcorefError(f"the model has no {kind} {chosen!r}; its {kind}s: {', '.join(names)}")
        return replace(options, min_score=float(options.min_score), evict=self._eviction(options.evict))

    def _eviction(self, given: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
        if given is None:
            return None
        if not isinstance(given, str | Mapping):
            raise StreamcorefError(f"evict is {given!r}; give a policy by name, such as 'none', or a table of a config")
        if isinstance(self.checkpoint.model, BaselineModel):
            raise StreamcorefError(
                "this model is a whole-document baseline, which holds no entities that could be evicted"
            )
        text = given if isinstance(given, str) else json.dumps(dict(given), default=str)
        try:
            return parse_eviction(text).model_dump(mode="json")
        except StreamcorefError as error:
            raise StreamcorefError(str(error).removeprefix("--")) from None  # said for the command line


def _read_all(
    stream: Stream, turns: Turns, words: Sequence[Sequence[str]], speakers: Speakers | None
) -> Iterator[Event]:
    """All events of a text that is there."""
    for number, (speaker, text) in enumerate(turns):
        yield from stream.feed("\n" + text if number else text, speaker)
        yield from stream.end_turn()
    yield from stream.feed_words(words, speakers)
    yield from stream.close()
