"""What a text may be given as besides a string: lists of words, and turns with their speakers."""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.document import Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.text import split_text

# One name for all, or for each sentence a name or a list of names, one a word.
Speakers = str | Sequence[str | Sequence[str]]
Spoken = tuple[list[str], list[str]]  # the words of a sentence and their speakers, "" where unknown
Turns = Sequence[tuple[str | None, str]]  # pairs of speaker and text


def with_speakers(sentences: Sequence[Sequence[str]], speakers: Speakers | None = None) -> list[Spoken]:
    """Each sentence as its words and a speaker a word; sentences without words are left out, as they hold nothing."""
    if isinstance(sentences, str) or not isinstance(sentences, Sequence):
        raise StreamcorefError(f"words are given as a list of sentences, each a list of str, not {_kind(sentences)}")
    given = [speakers or ""] * len(sentences) if speakers is None or isinstance(speakers, str) else speakers
    if not isinstance(given, Sequence) or len(given) != len(sentences):
        count = len(given) if isinstance(given, Sequence) else _kind(given)
        raise StreamcorefError(f"{count} speakers for {len(sentences)} sentences; give one name a sentence, or a word")
    spoken = [_spoken(*pair, number) for number, pair in enumerate(zip(sentences, given, strict=True))]
    return [sentence for sentence in spoken if sentence[0]]


def _spoken(words: Sequence[str], speaker: str | Sequence[str], number: int) -> Spoken:
    if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise StreamcorefError(f"sentence {number} (counted from 0) is not a list of str")
    names = [speaker] * len(words) if isinstance(speaker, str) else list(speaker)
    if len(names) != len(words) or not all(isinstance(name, str) for name in names):
        raise StreamcorefError(
            f"sentence {number} (counted from 0) has {len(words)} words and {len(names)} speakers; "
            "give one name (a str) for the sentence, or one a word"
        )
    return list(words), names


def checked_turns(turns: Turns) -> Turns:
    if isinstance(turns, str) or not isinstance(turns, Sequence):
        raise StreamcorefError(f"turns are given as a list of pairs (speaker, text), not {_kind(turns)}")
    for number, turn in enumerate(turns):
        pair = isinstance(turn, Sequence) and not isinstance(turn, str) and len(turn) == 2
        if not pair or not isinstance(turn[0], str | None) or not isinstance(turn[1], str):
            raise StreamcorefError(
                f"turn {number} (counted from 0) is not a pair (speaker, text) of str; an unknown speaker is None"
            )
    return turns


def document_from_words(key: str, sentences: Sequence[Sequence[str]], speakers: Speakers | None) -> Document:
    spoken = with_speakers(sentences, speakers)
    names = [name for _, sentence in spoken for name in sentence]
    return Document.from_sentences(key, [words for words, _ in spoken], speakers=names if any(names) else ())


def document_from_turns(key: str, turns: Turns) -> Document:
    """The texts of the turns joined by line ends; no word and no sentence goes over the end of a turn."""
    offsets: list[Span] = []
    ends: list[int] = []
    speakers: list[str] = []
    begin = 0
    for speaker, text in turns:
        spans, turn_ends = split_text(text)
        ends += [len(offsets) + end for end in turn_ends]
        offsets += [(begin + start, begin + end) for start, end in spans]
        speakers += [speaker or ""] * len(spans)
        begin += len(text) + 1
    whole = "\n".join(text for _, text in turns)
    return Document(
        key=key,
        words=tuple(whole[start:end] for start, end in offsets),
        sentence_ends=tuple(ends),
        speakers=tuple(speakers) if any(speakers) else (),
        text=whole,
        offsets=tuple(offsets),
    )


def _kind(value: object) -> str:
    return type(value).__name__
