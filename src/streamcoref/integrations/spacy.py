"""`nlp.add_pipe("streamcoref")`: a component of spaCy's pipelines, found by the entry point `spacy_factories`."""

# Annotations are values here: spaCy checks a pipeline's config by those of the factory.

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamcoref.integrations.extras import missing_extra

try:
    import srsly
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token
except ModuleNotFoundError as error:
    raise missing_extra("spaCy", "spacy") from error

from streamcoref.integrations.spacy_docs import (
    DocCoref,
    DocEntity,
    coref_of,
    entities_of,
    entity_of,
    put_answer,
    resolved_text_of,
    unanswered,
)

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

__all__ = ["CorefComponent", "DocCoref", "DocEntity", "make_component"]

_MODEL = "model"  # the folder of the model in that of the component
_GETTERS = (
    (Doc, "coref", coref_of),
    (Doc, "resolved_text", resolved_text_of),
    (Span, "entity", entity_of),
    (Token, "entities", entities_of),
)


class CorefComponent:
    """Reads each doc alone, whatever others come with it, and puts its entities into `doc.spans`.

    The model is loaded when the first doc comes, or from the folder of a pipeline that was saved with it.
    """

    def __init__(self, name: str, model: str, revision: str | None, device: str, options: dict[str, Any]) -> None:
        from streamcoref.options import ResolveOptions

        ResolveOptions.of(options)
        self.name, self.model, self.revision, self.device, self.options = name, model, revision, device, options
        self._resolver: Resolver | None = None
        self._process = os.getpid()
        self._own_model = False  # one that came with the pipeline, and not by its name
        _set_extensions(force=True)

    def __call__(self, doc: Doc) -> Doc:
        put_answer(doc, self.resolver.resolve(document=unanswered(doc), **self.options))
        return doc

    @property
    def resolver(self) -> "Resolver":
        from streamcoref.resolver import Resolver, load

        if self._resolver is None:
            self._resolver = load(self.model, device=self.device, revision=self.revision)
        if self._process != os.getpid():
            # A fork of `nlp.pipe(n_process=...)`: the weights are there, but the threads that encode are not, and those
            # within torch's operations neither.
            import torch

            torch.set_num_threads(1)
            self._resolver = Resolver(self._resolver.checkpoint, self._resolver.folder)
            self._process = os.getpid()
        return self._resolver

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """The whole model, so that the pipeline can be loaded where the model's name means nothing."""
        self.resolver.save(Path(path) / _MODEL)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "CorefComponent":
        self._load_own(Path(path) / _MODEL)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            self.resolver.save(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "CorefComponent":
        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            self._load_own(Path(folder))
        return self

    def _load_own(self, folder: Path) -> None:
        from streamcoref.resolver import load

        self._resolver = load(folder, device=self.device)
        self._own_model = True

    def __getstate__(self) -> dict[str, Any]:
        """For processes that begin afresh: they load the model by its name, if it has one."""
        weights = self.to_bytes() if self._own_model else None
        return {**self.__dict__, "_resolver": None, "weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        self.__dict__.update(state)
        self._process = os.getpid()
        _set_extensions(force=True)
        if weights is not None:
            self.from_bytes(weights)


def make_component(
    nlp: Language,  # noqa: ARG001 (spaCy gives it to every factory)
    name: str,
    model: str,
    revision: str | None,
    device: str,
    scheme: str | None,
    genre: str | None,
    singletons: bool,
    min_score: float,
    evict: str | dict[str, Any] | None,
) -> CorefComponent:
    """The component of a pipeline's config; the values are those of `streamcoref.load` and `ResolveOptions`."""
    options = {
        "scheme": scheme,
        "genre": genre,
        "singletons": singletons,
        "min_score": min_score,
        "evict": evict,
    }
    return CorefComponent(name, model, revision, device, options)


def _set_extensions(force: bool) -> None:
    """`doc._.coref` and the others. An import takes no name away from somebody else's; a component of ours does."""
    for kind, name, getter in _GETTERS:
        if force or not kind.has_extension(name):
            kind.set_extension(name, getter=getter, force=True)


Language.factory(
    "streamcoref",
    default_config={
        "model": "default",
        "revision": None,
        "device": "cpu",
        "scheme": None,
        "genre": None,
        "singletons": False,
        "min_score": 0.0,
        "evict": None,
    },
    assigns=["doc.spans", "doc._.coref", "doc._.resolved_text", "span._.entity", "token._.entities"],
    func=make_component,
)
_set_extensions(force=False)
