"""Agreement written out on strings and whole histories of mentions; the fast version has fixed-size integers."""

from __future__ import annotations

from collections.abc import Sequence

I = {"i", "me", "my", "mine", "myself"}  # noqa: E741
YOU = {"you", "your", "yours", "yourself", "thou", "thee", "thy", "thine", "thyself", "ye"}
GENDERS = {
    "he": {"he", "him", "his", "himself"},
    "she": {"she", "her", "hers", "herself"},
    "it": {"it", "its", "itself"},
    "they": {"they", "them", "their", "theirs", "themselves"},
    "we": {"we", "us", "our", "ours", "ourselves"},
}
MEN = set("mr mister sir lord master king prince duke count baron monsieur uncle father".split())
WOMEN = set("mrs miss ms lady madam madame mistress queen princess duchess aunt mother".split())
BOTH = set("dr doctor captain colonel general major professor rev reverend st saint president".split())
LINKS = set("of in at on from with for to by and or , who that which".split())
# What makes no name, and what a name may hold. Written out here: the fast version's lists are among what is checked.
DETERMINERS = set("a an the this that these those my your his her its our their".split())
PARTICLES = set("of the de del della di da dos du la le van von der den bin al el y e &".split())
NO_NAMES = set(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself "
    "ye he him his himself she her hers herself it its itself they them their theirs themselves themself this that "
    "these those who whom whose which what one oneself each other another both all some any none someone somebody "
    "something anyone anybody anything everyone everybody everything nobody nothing 's ’s s' 'em ’em 'im y'all ya "
    "here there then now".split()
)

Mention = tuple[tuple[str, ...], int]  # words, voice


def literal_agreement(mention: Mention, earlier: Sequence[Mention]) -> int:
    """A mention against the mentions of an entity, oldest first."""
    voice = mention[1]
    if person(mention):
        return voiced(person(mention), voice, earlier)
    if own := pronoun_gender(mention):
        known = {g for m in earlier for g in gender_of(m)}
        return 5 if not known else 6 if own in known else 7
    mine = names(mention)
    if not mine:
        return 0
    theirs: list[str] = []
    for m in earlier:
        theirs = ([word for word in names(m)[:4] if word not in theirs] + theirs)[:6]
    if not theirs:
        return 1
    mine = mine[:4]
    if all(word in theirs for word in mine) or all(word in mine for word in theirs):
        return 2
    return 3 if any(word in theirs for word in mine) else 4


def bare(mention: Mention) -> list[str]:
    words = list(mention[0])
    while len(words) > 1 and words[-1] in ("'s", "’s", "'", "’"):
        words.pop()
    return words


def person(mention: Mention) -> str:
    words = bare(mention)
    if len(words) != 1:
        return ""
    return "I" if words[0].lower() in I else "you" if words[0].lower() in YOU else ""


def pronoun_gender(mention: Mention) -> str:
    words = bare(mention)
    if len(words) != 1:
        return ""
    return next((gender for gender, pronouns in GENDERS.items() if words[0].lower() in pronouns), "")


def gender_of(mention: Mention) -> set[str]:
    if person(mention):
        return set()
    if pronoun_gender(mention):
        return {pronoun_gender(mention)}
    for word in bare(mention):
        plain = word.lower().rstrip(".")
        if plain in MEN | WOMEN | BOTH:  # the first title counts
            return {"he"} if plain in MEN else {"she"} if plain in WOMEN else set()
    return set()


def names(mention: Mention) -> list[str]:
    words = bare(mention)
    if person(mention) or pronoun_gender(mention):
        return []
    if not is_name(words):
        if any(word.lower() in LINKS for word in words):
            return []
        while not all(word[0].isupper() for word in words):
            words = words[1:]
    plain = [word.lower().rstrip(".") or word for word in words if word[0].isupper()]
    return [word for word in plain if word not in MEN | WOMEN | BOTH | {"the"}]


def is_name(words: list[str]) -> bool:
    """One to five words with capitals outside, and capitals, particles or apostrophes inside."""
    if words[0].lower() in ("a", "an", "the"):
        words = words[1:]
    if not words or len(words) > 5:
        return False
    if words[0].lower() in DETERMINERS or {word.lower() for word in words} <= NO_NAMES:
        return False
    for word in words[1:-1]:
        if not word[0].isupper() and word not in PARTICLES and word[0] not in ("'", "’", "-"):
            return False
    return words[0][0].isupper() and words[-1][0].isupper()


def voiced(mine: str, voice: int, earlier: Sequence[Mention]) -> int:
    latest: dict[str, int] = {}
    for m in earlier:
        if person(m):
            latest[person(m)] = m[1]
    if not latest:
        return 8
    if voice == 1:
        return 9 if latest.get(mine) == 1 else 10
    if voice < 0:
        speakers = {who: v for who, v in latest.items() if v < 0}
        if not speakers:
            return 10
        who = "I" if "I" in speakers else "you"
        return 21 + 2 * (who != mine) + (speakers[who] != voice)
    turns = {who: voice // 2 - v // 2 for who, v in latest.items() if v > 1}
    if not turns:
        return 10
    who = min(turns, key=lambda w: (turns[w], w != mine))
    ago = turns[who]
    place = 0 if ago == 0 else (1 if voice % 2 else 2) if ago == 1 else 3 if ago == 2 else 4
    return 11 + 5 * (who != mine) + place
