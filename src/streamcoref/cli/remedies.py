"""What the library tells a Python caller to do, as the command line says it: with its flags."""

from __future__ import annotations

from streamcoref.errors import Remedy, StreamcorefError

SENTENCES = {
    Remedy.REPLACE: "use --force to replace it",
    Remedy.WRITE_INTO: "use --force to write into it",
    Remedy.ENCODING: "if it is text, name its --encoding",
    Remedy.UTF_16: "add --encoding utf-16",
    Remedy.UTF_16_LE: "add --encoding utf-16-le",
    Remedy.UTF_16_BE: "add --encoding utf-16-be",
    Remedy.BAD_BYTES: "name the encoding with --encoding, or go on with --errors replace",
    Remedy.KNOWN_ENCODING: "give --encoding one of text, such as utf-8, utf-16, latin-1 or cp1252",
    Remedy.FORMAT: "name it with --format",
    Remedy.READ_AS: "say what it is with --from",
    Remedy.MAKE_STORE: "make one with: streamcoref resolve TEXT -o FILE",
    Remedy.ANOTHER_STORE: "name another file, or replace it with --force",
    Remedy.MAKE_ANEW: "make it anew with --force",
    Remedy.OTHER_RELEASE: "make it anew with --force or use the release that made it",
    Remedy.START_OVER: "start over with --force",
    Remedy.AS_BEFORE: "give the command as it was, name another file with -o, or start over with --force",
    Remedy.FROM_THE_BEGINNING: "give the text from its beginning, or start over with --force",
    Remedy.LET_FINISH: "let it be finished and start over with --force",
    Remedy.ONE_BY_ONE: "name a folder, as in -o stores/",
    Remedy.GO_ON: "give the same command again to go on",
    Remedy.MEND_AND_GO_ON: "mend that and give the same command again: it goes on from what is stored",
    Remedy.MAKE_ROOM: "make room and give the same command again: it goes on from what is stored",
    Remedy.RESUME: "go on with --resume, or choose another run.folder",
    Remedy.ALLOW_MISSING: "add what is missing, or give --allow-missing to count it against the score",
    Remedy.ENCODER: "name the folder of one with --encoder",
    Remedy.NO_ENCODER: "leave out --encoder",
    Remedy.TOKENIZER: "name the right one with --tokenizer (all published models use that of bert-base-cased)",
    Remedy.NO_PRESET: "leave out --preset, which is for encoders without a model",
    Remedy.KIND: "say --kind incremental or baseline",
    Remedy.KEYS_OR_OPEN: "name a file of keys with --key-file, or say --open to let everybody in",
}


def sentence(error: StreamcorefError) -> str:
    """The error as a user of the command can act on it."""
    return error.problem if error.remedy is None else f"{error.problem}; {SENTENCES[error.remedy]}"
