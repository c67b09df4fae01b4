from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from generated_documents import content, crosses, documents, read, written
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import read_documents
from streamcoref.formats.conllu import FORMAT
from streamcoref.mention_labels import TYPES, MentionLabels

GUM = "# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity\n"


def row(name: str, form: str, misc: str = "_") -> str:
    return "\t".join([name, form, *"_" * 7, misc]) + "\n"


def rows(*cells: str) -> str:
    return "".join(row(str(i), f"w{i}", f"Entity={cell}" if cell else "_") for i, cell in enumerate(cells, start=1))


def test_documents_genre_speakers_and_text() -> None:
    text = (
        "# newdoc id = GUM_x\n# global.Entity = GRP\n# meta::genre = vlog\n# meta::speakerCount = 2\n# newpar\n"
        "# newpar_block = p (1 s)\n# sent_id = GUM_x-1\n# speaker = Ann\n"
        + row("1", "Hi", "SpaceAfter=No|Entity=(1)")
        + row("2", "!")
        + "\n# newpar\n# speaker = Bob\n"
        + row("1-2", "Don’t")
        + row("1", "Do")
        + row("2", "n’t")
        + row("3-4", "gonna", "SpaceAfter=No")
        + row("3", "going")
        + row("4", "to")
        + row("5", ".")
        + "\n"
        + row("1", "End")
        + "\n# newdoc id = two\n# global.Entity = GRP\n\n"
    )
    first, second = read(FORMAT, text)
    assert (first.key, first.genre, second.key, second.words) == ("GUM_x", "vlog", "two", ())
    assert first.sentences == (("Hi", "!"), ("Do", "n’t", "going", "to", "."), ("End",))
    assert first.speakers == ("Ann", "Ann", "Bob", "Bob", "Bob", "Bob", "Bob", "")
    assert first.text == "Hi!\n\nDon’t gonna. End"
    assert [first.text[a:b] for a, b in first.offsets] == ["Hi", "!", "Do", "n’t", "gonna", "gonna", ".", "End"]
    assert first.clusters == (((0, 1),),)


@pytest.mark.parametrize(
    ("cells", "clusters"),
    [
        (["(1(2-person-1)3)"], None),  # 3 is never opened
        (["(3", "(1(2-person-1)3)", "1)"], (((0, 2),), ((1, 2),), ((1, 3),))),
        (["(e12-place", "e12)(e12", "e12)"], (((0, 2), (1, 3)),)),
        (["(1(1", "1)", "1)"], (((0, 2), (0, 3)),)),
        (["(1", "(1", "1)", "1)"], (((0, 4), (1, 3)),)),
        (["(5[1/2])", "", "(5[2/2]", "5[2/2])"], (((0, 4),),)),
        (["(5[1/3])(6)", "(5[2/3])", "(5)", "(5[3/3])"], (((0, 1),), ((0, 4), (2, 3)))),
    ],
)
def test_brackets(cells: list[str], clusters: object) -> None:
    text = "# newdoc id = d\n# global.Entity = GRP-etype-other\n" + rows(*cells)
    if clusters is None:
        with pytest.raises(InputError, match="no '\\(3' has opened"):
            read(FORMAT, text)
    else:
        (document,) = read(FORMAT, text)
        assert document.clusters == clusters


def test_the_declaration_says_which_field_is_the_entity() -> None:
    (document,) = read(FORMAT, "# global.Entity = etype-eid-head\n" + rows("(person-e1-1)", "(place-e1-1", "e1)"))
    assert document.clusters == (((0, 1), (1, 3)),)


def test_empty_nodes_are_not_words() -> None:
    text = (
        row("1", "a", "Entity=(1)")
        + row("1.1", "_", "Entity=(1)(2")
        + row("2", "b", "Entity=(3")
        + row("2.1", "_", "Entity=3)")
        + row("3", "c", "Entity=2)")
    )
    (document,) = read(FORMAT, text)
    assert document.words == ("a", "b", "c")
    assert document.clusters == (((0, 1),), ((1, 2),), ((1, 3),))


@pytest.mark.parametrize("name", ["corpus/my_file.conllu", "corpus/my_file.conllu.gz"])
def test_a_file_without_newdoc_is_one_document(name: str) -> None:
    (document,) = read(FORMAT, row("1", "a") + "\n" + row("1", "b"), name)
    assert (document.key, document.sentence_ends) == ("my_file", (1, 2))


def test_windows_line_ends() -> None:
    text = "# newdoc id = d\n" + row("1", "a", "Entity=(1)") + "\n" + row("1", "b")
    assert read(FORMAT, text.replace("\n", "\r\n")) == read(FORMAT, text)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (rows("", "(7"), 3, r"'\(7' opens a mention that is never closed"),
        (rows("", "7)"), 3, r"'7\)' closes a mention that no"),
        (rows("", "7"), 3, "not made of brackets"),
        (rows("(7[1/2])", ""), 2, r"'7\[1/2\]' has no part 2"),
        (rows("", "(7[2/2])"), 3, "without part 1"),
        ("1\tw\n", 2, "2 columns between tabs where CoNLL-U has 10"),
        (row("x", "w"), 2, "the first column has 'x'"),
        (row("1", ""), 2, "the word, is empty"),
        (row("1-2", "ab", "Entity=(1)"), 2, "on a range of words"),
        (row("1-3", "ab") + row("1", "a") + "\n", 4, "ends before its last word, 3"),
    ],
)
def test_bad_lines_are_named(body: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(FORMAT, f"# newdoc id = d\n{body}", "bad.conllu")
    assert str(caught.value).startswith(f"bad.conllu:{line}: ")


@given(
    documents(
        speakers=st.sampled_from(["", "Ann", "B|c=d e", " x\n"]),
        genres=st.sampled_from([None, "news", "a b"]),
        texts=True,
    )
)
def test_round_trip(document: Document) -> None:
    if crosses(document):
        with pytest.raises(StreamcorefError, match="cross"):
            written(FORMAT, document)
        return
    (again,) = read(FORMAT, written(FORMAT, document))
    assert content(again) == content(document)
    assert again.genre == document.genre
    if document.text is not None:
        assert (again.text, again.offsets) == (document.text, document.offsets)


def test_words_that_share_characters_are_a_range() -> None:
    document = Document(
        key="d",
        words=("I", "am", "going", "to", "."),
        sentence_ends=(5,),
        text="I'm gon\nna.",
        offsets=((0, 3), (0, 3), (4, 10), (4, 10), (10, 11)),
    )
    text = written(FORMAT, document)
    assert "\n1-2\tI'm\t" in text
    assert "\n3-4\tgon na\t" in text
    assert read(FORMAT, text) == [document]


def test_one_speaker_a_sentence_is_a_comment() -> None:
    document = Document.from_sentences("d", [["a", "b"], ["c", "d"]], speakers=["X", "X", "X", "Y"])
    text = written(FORMAT, document)
    assert text.count("# speaker = X\n") == 1
    assert "Speaker=Y" in text
    assert content(read(FORMAT, text)[0]) == content(document)


TEXT = Document(key="d", words=("ab", "c"), sentence_ends=(2,), text="ab c", offsets=((0, 2), (3, 4)))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (replace(TEXT, words=("", "c")), "word 0 is ''"),
        (replace(TEXT, words=("a\tb", "c")), "word 0"),
        (replace(TEXT, key=" d"), "white space around"),
        (replace(TEXT, key="d\nd"), "line end"),
        (replace(TEXT, genre=""), "the genre is ''"),
        (replace(TEXT, genre="a\n"), "the genre"),
        (replace(TEXT, offsets=((0, 2), (1, 4))), "word 1 are empty or overlap"),
        (replace(TEXT, offsets=((0, 2), (3, 3))), "word 1 are empty or overlap"),
        (replace(TEXT, offsets=((3, 4), (0, 2))), "word 1 are empty or overlap"),
        (replace(TEXT, offsets=((0, 2), (0, 2)), sentence_ends=(1, 2)), "word 1 are empty or overlap"),
        (replace(TEXT, text="abc", offsets=((0, 3), (0, 3))), "share the characters they are made of"),
        (Document(key="d", words=(), sentence_ends=(), text=" "), "a text but no words"),
    ],
)
def test_what_it_cannot_hold(document: Document, message: str) -> None:
    with pytest.raises(StreamcorefError, match=f"{message}.*jsonlines"):
        written(FORMAT, document)


def test_types_and_information_status_are_labels() -> None:
    cells = [
        "(1-person-new-nnnnn-cf1-1-coref",
        "(2-place-giv:act-n-c-1-sgl-The-Hague)",
        "1)",
        "(2-thing-undefined)",
        "",
    ]
    (document,) = read(FORMAT, GUM + rows(*cells))
    assert document.clusters == (((0, 3),), ((1, 2), (3, 4)))
    assert document.labels == {
        (0, 3): MentionLabels(("person",), status="new"),
        (1, 2): MentionLabels(("place", "facility"), status="giv:act"),  # GUM does not tell these two apart
    }


def test_a_mention_inside_another_of_its_entity_has_its_own_labels() -> None:
    (document,) = read(FORMAT, GUM + rows("(1-person-new", "(1-animal-giv:act)", "1)"))
    assert document.labels[0, 3].types == ("person",)
    assert document.labels[1, 2].types == ("animal",)


def test_files_without_such_fields_have_no_labels() -> None:
    (document,) = read(FORMAT, "# global.Entity = GRP\n" + rows("(1-person)"))
    assert document.labels == {}


@pytest.mark.corpus
def test_gums_own_layer(shared: Path) -> None:
    folder = shared / "corpora" / "gum" / "conllu"
    names = (shared / "corpora" / "ontogum" / "train.ids").read_text().split()
    found = [document for name in names for document in read_documents(folder / f"{name}.conllu")]
    assert sum(len(document.labels) for document in found) == 36_789  # from the README beside the corpora
    assert all(label.types for document in found for label in document.labels.values())
    assert {t for document in found for label in document.labels.values() for t in label.types} == set(TYPES)
