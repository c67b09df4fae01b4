"""A text in another language is known by its first words, and English of any kind is never taken for one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import LanguageWarning, Stream
from streamcoref.language.is_english import ENOUGH, LanguageCheck, is_english
from streamcoref.text import document_from_text
from tests import toy_resolver
from tests.cli.toy_resolving import invoke, save_model
from tests.conftest import SHARED

FOREIGN = {
    "German": "Als die Nachbarin gestern Abend nach Hause kam, lag der Schlüssel nicht mehr unter der Matte.",
    "German without marks": "Wir haben den ganzen Tag auf sie gewartet, aber sie ist nicht gekommen.",
    "French": "Quand elle est rentrée hier soir, les clés n'étaient plus sous le tapis et il pleuvait.",
    "Spanish": "Cuando la vecina volvió a casa por la noche, las llaves ya no estaban en su sitio.",
    "Italian": "Quando la vicina è tornata a casa ieri sera, le chiavi non erano più sotto il tappeto.",
    "Portuguese": "Quando a vizinha voltou para casa ontem, as chaves já não estavam com ela e ele não sabia.",
    "Dutch": "Toen de buurvrouw gisteren thuis kwam, lag de sleutel niet meer onder het matje bij haar deur.",
    "Swedish": "När grannen kom hem igår kväll låg nyckeln inte kvar under mattan och det var mörkt.",
    "Danish": "Da naboen kom hjem i går aftes, var nøglen ikke længere under måtten, og det var mørkt.",
    "Norwegian": "Da naboen kom hjem i går kveld, lå ikke nøkkelen under matta lenger, og det var mørkt.",
    "Finnish": "Kun naapuri tuli eilen illalla kotiin, avain ei ollut enää maton alla, ja hän oli vihainen.",
    "Polish": "Kiedy sąsiadka wróciła wczoraj do domu, klucza już nie było pod wycieraczką.",
    "Czech": "Když se sousedka včera večer vrátila domů, klíč už pod rohožkou nebyl.",
    "Hungarian": "Amikor a szomszéd tegnap este hazaért, a kulcs már nem volt a lábtörlő alatt.",
    "Romanian": "Când vecina s-a întors acasă aseară, cheia nu mai era sub preș și nu știa de ce.",
    "Turkish": "Komşu dün akşam eve geldiğinde anahtar artık paspasın altında değildi ve çok kızdı.",
    "Indonesian": "Ketika tetangga itu pulang tadi malam, kunci yang ada di bawah keset sudah tidak ada.",
    "Vietnamese": "Khi người hàng xóm về nhà tối qua, chìa khóa không còn ở dưới tấm thảm nữa.",
    "Croatian": "Kad se susjeda sinoć vratila kući, ključ više nije bio ispod otirača, ali ona je znala.",
    "Tagalog": "Nang umuwi ang kapitbahay kagabi, wala na ang susi sa ilalim ng banig at hindi siya natuwa.",
    "Russian": "Когда соседка вчера вечером вернулась домой, ключа под ковриком уже не было.",
    "Ukrainian": "Коли сусідка вчора ввечері повернулася додому, ключа під килимком уже не було.",
    "Greek": "Όταν η γειτόνισσα γύρισε χθες το βράδυ, το κλειδί δεν ήταν πια κάτω από το χαλάκι.",
    "Arabic": "عندما عادت الجارة إلى البيت مساء أمس لم يكن المفتاح تحت السجادة.",
    "Hebrew": "כשהשכנה חזרה הביתה אתמול בערב, המפתח כבר לא היה מתחת לשטיח.",
    "Persian": "وقتی همسایه دیشب به خانه برگشت، کلید دیگر زیر فرش نبود.",
    "Hindi": "जब पड़ोसन कल शाम घर लौटी तो चाबी चटाई के नीचे नहीं थी।",
    "Chinese": "昨天晚上邻居回到家的时候，钥匙已经不在门垫下面了。",
    "Japanese": "昨日の夜、隣の人が家に帰ると、鍵はもうマットの下になかった。",
    "Korean": "어제 저녁 이웃이 집에 돌아왔을 때 열쇠는 이미 매트 밑에 없었다.",
    "Thai": "เมื่อเพื่อนบ้านกลับถึงบ้านเมื่อคืนนี้ กุญแจไม่ได้อยู่ใต้พรมแล้ว",
    "shouted Spanish": "CUANDO LA VECINA VOLVIÓ A CASA POR LA NOCHE, LAS LLAVES YA NO ESTABAN EN SU SITIO.",
}
ENGLISH = {
    "story": "Anna saw the ship before the others did. She ran down to the harbour and waved.",
    "shouted": "ANNA SAW THE SHIP BEFORE THE OTHERS DID. SHE RAN DOWN TO THE HARBOUR AND WAVED.",
    "chat": "omg u wont believe this lol. idk y he did that tbh, gr8 stuff m8 brb k thx cya l8r",
    "names": "Vincent van Gogh, Ludwig van Beethoven, Charles de Gaulle, Leonardo da Vinci, Otto von Bismarck, José "
    "María de la Cruz, Łukasz Żak, Björn Ångström, François Truffaut, Đặng Thái Sơn",
    "recipe": "2 cups flour, 1 tsp salt, 250 g crème fraîche, 3 jalapeños, purée of tomato. Sauté onions. Serve hot.",
    "code": "def main(argv: list[str]) -> int:\n    for i in range(10): print(f'{i}', file=sys.stderr)\n    return 0",
    "table": "Mo-Fr 9-17, Sa 10-14, Su closed; Tu lunch; W, Th dinner 18:30; Sa brunch; Su tea; Tu quiz",
    "verse": "Tyger Tyger, burning bright, in forests green and dark of night",
    "café": "The naïve fiancé ate crème brûlée at a café, with panache and joie de vivre, vis-à-vis his protégé.",
    "formula": "λ = 2π/ω, α ≤ β, ∑ xᵢ → ∞, Δt, γ and θ as in (3)",
    "numbers": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "archaic": "Whan that Aprille with his shoures soote the droghte of March hath perced to the roote",
    "quotation": "He said “c'est la vie, mon ami, je ne sais quoi” and left the room, for he was tired of us all.",
    "emoji": "🎉🎉🎉 😀 👍🏽 🇳🇿 🎉🎉🎉 😀 👍🏽 🇳🇿",
    "nothing": "",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "incremental")


def words(text: str) -> tuple[str, ...]:
    return document_from_text("text", text).words


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_a_sentence_of_another_language(text: str) -> None:
    assert not is_english(words(text))
    assert not is_english(words(f"{text} " * 40))


@pytest.mark.parametrize("text", ENGLISH.values(), ids=ENGLISH)
def test_english_of_any_kind(text: str) -> None:
    assert is_english(words(text))
    assert is_english(words(f"{text} " * 40))


@given(st.lists(st.integers(0, 2000), max_size=6), st.sampled_from([*FOREIGN.values(), *ENGLISH.values()]))
def test_it_is_said_once_however_the_words_come(cuts: list[int], text: str) -> None:
    given_words = words(f"{text} " * 20)
    check = LanguageCheck()
    said = []
    for a, b in pairwise([0, *sorted(min(cut, len(given_words)) for cut in cuts), len(given_words)]):
        said.append(check.read(given_words[a:b]))
        check = LanguageCheck.from_values(check.to_values())
    said += [check.end(), check.end(), check.read(words(FOREIGN["Greek"])), check.end()]
    assert sum(said) == (not is_english(given_words))


def test_it_is_decided_by_the_first_words_and_counts_no_further() -> None:
    check = LanguageCheck()
    assert not check.read(["the"] * ENOUGH)
    assert check.decided
    values = check.to_values()
    assert not check.read(words(FOREIGN["Russian"]) * 100)
    assert not check.end()
    assert check.to_values() == values


@pytest.mark.corpus
@pytest.mark.parametrize("novel", sorted((SHARED / "corpora/novels").glob("*.txt")), ids=lambda path: path.stem)
def test_novels_are_english_wherever_one_begins(novel: Path) -> None:
    text = words(novel.read_text(encoding="utf-8")[:400_000])
    assert all(is_english(text[begin : begin + ENOUGH]) for begin in range(0, len(text), ENOUGH))


@contextmanager
def noting() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def read(stream: Stream, text: str) -> None:
    for begin in range(0, len(text), 50):
        stream.feed(text[begin : begin + 50])


def test_a_resolver_warns_of_each_text_once() -> None:
    with noting() as caught:
        toy_resolver.resolver().resolve(f"{FOREIGN['German']} " * 50)
        list(toy_resolver.resolver().resolve_many([FOREIGN["Greek"], ENGLISH["story"], FOREIGN["Thai"]]))
        toy_resolver.resolver().resolve(words=[FOREIGN["French"].split()])
    assert [str(one.message)[:30] for one in caught] == ["this does not look like Englis"] * 4
    assert caught[0].filename == __file__


@pytest.mark.parametrize("close", [False, True])
def test_a_stream_warns_once_wherever_it_goes_on(close: bool) -> None:
    """While it is read if the text is long, at its end if it is short; what has been said is part of its state."""
    stream = toy_resolver.resolver().stream()
    text = f"{FOREIGN['German']} " * (2 if close else 40)
    with noting() as caught:
        read(stream, text[: len(text) // 2])
        stream = toy_resolver.resolver().stream(stream.state())
        read(stream, text[len(text) // 2 :])
        stream = toy_resolver.resolver().stream(stream.state())
        if close:
            assert not caught
            stream.close()
        else:
            read(stream, text)
    assert [(one.category, one.filename) for one in caught] == [(LanguageWarning, __file__)]


def test_a_stream_of_words_warns_too() -> None:
    stream = toy_resolver.resolver().stream()
    with pytest.warns(LanguageWarning):
        stream.feed_words([FOREIGN["Dutch"].split()] * 40)


def test_english_is_not_spoken_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = toy_resolver.resolver().stream()
        read(stream, ENGLISH["story"])
        stream.close()
        toy_resolver.resolver().resolve(ENGLISH["story"])


@pytest.mark.parametrize("arguments", [[], ["-o", "a.sqlite"], ["--format", "events"], ["--live"], ["-o", "a.json"]])
def test_the_command_says_it_in_a_line(
    arguments: list[str], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("brief.txt").write_text(f"{FOREIGN['German']} " * 50, encoding="utf-8")
    Path("story.txt").write_text(f"{ENGLISH['story']} " * 50, encoding="utf-8")
    said = invoke("resolve", "--model", model, "brief.txt", *arguments).stderr
    assert said.count("streamcoref: brief: this does not look like English") == 1
    assert "English" not in invoke("resolve", "--model", model, "story.txt", *arguments, "--force").stderr
