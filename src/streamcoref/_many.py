"""Many texts in this process: some are taken ahead, so that short ones of one length share passes of the encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder_service import SHORT

if TYPE_CHECKING:
    from streamcoref.model.encoder_service import SegmentService
    from streamcoref.model.reading import Reading
    from streamcoref.model.segments import Segment

# A text, or the arguments of `Resolver.resolve` by name.
ResolveInput = str | Mapping[str, Any]
AHEAD = 256  # texts
_ARGUMENTS = ("text", "words", "speakers", "turns", "document", "key")
_MOST_PIECES = 8192  # of the texts taken ahead: their vectors wait until it is their turn


@dataclass(frozen=True, eq=False)
class CutText:
    """A text that is ready to be encoded, and how it is read."""

    document: Document
    segments: list[Segment]
    reading: Reading


Cut = Callable[[dict[str, Any]], CutText]  # the arguments of `resolve`, but its options
AnswerText = Callable[[CutText, "SegmentService"], Document]


@dataclass(eq=False)
class _Window:
    """The next texts, by their numbers, and what was wrong with the one that follows them."""

    texts: list[tuple[int, CutText]] = field(default_factory=list)
    fault: Exception | None = None
    ended: bool = False  # there are no more texts


def arguments_of(number: int, given: ResolveInput) -> dict[str, Any]:
    """The arguments of `resolve` for one of many texts."""
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, Mapping):
        raise StreamcorefError(f"a text is a str or a mapping of arguments of resolve, not {type(given).__name__}")
    for name in given:
        if name not in _ARGUMENTS:
            raise StreamcorefError(f"resolve has no argument {name!r}; it has {', '.join(_ARGUMENTS)}")
    return {"key": f"text-{number}", **given}


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Whatever goes wrong with one of many texts is said with its number."""
    try:
        yield
    except StreamcorefError as error:
        raise StreamcorefError(f"text {number} (counted from 0): {error}") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise StreamcorefError(f"text {number} (counted from 0) could not be resolved: {said}") from error


def resolve_ahead(
    texts: Iterable[ResolveInput], ahead: int, encoder: SegmentService, cut: Cut, answer: AnswerText
) -> Iterator[Document]:
    """Documents in order. No more than `ahead` texts are held, and none after a long one, which gains nothing."""
    numbered = zip(count(), texts, strict=False)
    ended = False
    while not ended:
        window = _take(numbered, ahead, cut)
        alone = [text.segments[0] for _, text in window.texts if len(text.segments) == 1]
        service = encoder.together(alone) if len(alone) > 1 else encoder
        for number, text in window.texts:
            with naming(number):
                document = answer(text, service)
            yield document
        if window.fault is not None:
            raise window.fault
        ended = window.ended


def _take(numbered: Iterator[tuple[int, ResolveInput]], ahead: int, cut: Cut) -> _Window:
    window = _Window()
    pieces = 0
    while len(window.texts) < ahead and pieces < _MOST_PIECES:
        try:  # whatever happens, the texts before are answered first
            number, given = next(numbered)
            with naming(number):
                text = cut(arguments_of(number, given))
        except StopIteration:
            window.ended = True
            break
        except Exception as fault:
            window.fault = fault
            break
        window.texts.append((number, text))
        pieces += sum(map(len, text.segments))
        if any(len(segment) > SHORT for segment in text.segments) or len(text.segments) > 1:
            break
    return window
