"""Which of an entity's mentions names it best: a name before a noun phrase before a pronoun.

Labels are for people; no trained feature reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from streamcoref.language.english import (
    BARE_TITLES,
    DETERMINERS,
    EPITHETS,
    OTHER_PERSONS,
    POSSESSIVE_ENDINGS,
    POSSESSIVE_S,
    PRONOUNS,
)
from streamcoref.language.names import Words, is_name
from streamcoref.language.versions import LATEST, lexicon

Form = tuple[Words, bool]  # the words of a mention, and whether it opens a sentence

_LEXICON = lexicon(LATEST)
_LONGEST_PHRASE = 5  # words; a longer one is a whole clause, and is a label only if there is nothing else
_SLIP = 10  # times a name beside which one fuller form of it is taken for a mistake
_RARE = 50  # times a name beside which even several fuller forms are
_NARRATED = 100  # times that somebody says "I" for which a name must come once, or it is not the narrator's


def is_pronoun(words: Sequence[str]) -> bool:
    return PRONOUNS.issuperset(map(str.lower, words))


def readable_name(mentions: Sequence[tuple[Sequence[str], bool]]) -> int:
    """The number of the best mention. Each is given as its words and whether it opens a sentence. See `best_form`."""
    forms = [(tuple(words), opens) for words, opens in mentions]
    return forms.index(best_form(Counter(forms)))


def best_form(forms: Mapping[Form, int]) -> Form:
    """What an entity is called, of the forms of its mentions with their counts, in the order of their appearance.

    A name before a noun phrase before a pronoun, and of each kind what has the most weight:

    - The name that most mentions have in them wins: "Darcy" and "Mr. Darcy" weigh together against "Wickham". A fuller
      form of it is shown if that is no rarity: "Elizabeth Bennet" if it occurs twice in a hundred times "Elizabeth", or
      once in ten; titles are kept. What describes more than it names, "Poor Alice" or "Tom Okafor of Baring Street", is
      shown only if it is said more often than the name alone, as "Little Dorrit" is.
    - Without a name it is the most frequent noun phrase, short ones first.
    - Somebody who is "I" (or "you") in most mentions, and whose name comes less than once in a hundred times, is "I":
      a narrator, whom readers know as such, while so rare a name is more likely the model's mistake.

    Among mentions that read the same, one without a possessive ending and inside a sentence is taken.
    """
    names = _Names(forms)
    best = min(forms, key=names.rank)
    weight = names.counts[names.folded(best)]
    if best in names.named:
        best, weight = names.best()
    said = [form for form in forms if OTHER_PERSONS.issuperset(names.folded(form))]
    persons = sum(forms[form] for form in said)
    if 2 * persons > sum(forms.values()) and weight * _NARRATED < persons:
        return min(said, key=names.rank)
    return best


class _Names:
    """The forms of one entity, weighed."""

    def __init__(self, forms: Mapping[Form, int]) -> None:
        self.spelled = {form: _without_possessive(form[0]) for form in forms}
        self.order = {form: number for number, form in enumerate(forms)}
        inside = {self.spelled[form] for form in forms if not form[1]}
        self.named = {
            form
            for form, own in self.spelled.items()
            if _is_name(own, certain=own in inside) and not _says_nothing(own)
        }
        self.counts: Counter[Words] = Counter()  # by words in lower case
        self.spellings: Counter[Words] = Counter()
        self.weights: Counter[Words] = Counter()  # of all named forms that have these words side by side
        for form, count in forms.items():
            self.counts[self.folded(form)] += count
            self.spellings[self.spelled[form]] += count
            if form in self.named:
                for part in _parts(self.folded(form)):
                    self.weights[part] += count

    def folded(self, form: Form) -> Words:
        return tuple(word.lower() for word in self.spelled[form])

    def rank(self, form: Form) -> tuple[int, int, int, int, int, bool, bool, int]:
        words, opens = form
        own = self.spelled[form]
        kind = 2 if is_pronoun(own) or _says_nothing(own) else 0 if form in self.named else 1
        vague = int(kind == 1 and own[_first_noun(own)].lower() in PRONOUNS)  # "the one on the left"
        long = int(kind == 1 and len(own) > _LONGEST_PHRASE)
        count = self.counts[self.folded(form)]
        return (kind, vague, long, -count, -self.spellings[own], len(own) < len(words), opens, self.order[form])

    def best(self) -> tuple[Form, int]:
        """The name that weighs most, in its best form, and its weight; there is a name."""
        base_form = min(self.named, key=lambda form: (-self._weight(form), self.rank(form)))
        base = self.folded(base_form)
        fuller = [form for form in self.named if self._is_better(self.folded(form), base)]
        return min(fuller, key=self.rank, default=base_form), self._weight(base_form)

    def _weight(self, form: Form) -> int:
        """A title alone, "Captain", is no name that captains share."""
        folded = self.folded(form)
        shared = any(word.rstrip(".") not in _LEXICON.titles for word in folded)
        return self.weights[folded] if shared else self.counts[folded]

    def _is_better(self, name: Words, base: Words) -> bool:
        """Whether a name should be shown instead of a shorter one that it has in it."""
        if len(name) <= len(base) or base not in _parts(name):
            return False
        count, of_base = self.counts[name], self.counts[base]
        if _describes(name):
            return count > of_base
        return _SLIP * count >= of_base or (count >= 2 and _RARE * count >= of_base)


def clean_name(text: str) -> str:
    """A mention's text as a label: one line, no possessive ending."""
    label = " ".join(text.split())
    for ending in POSSESSIVE_S:
        label = label.removesuffix(ending).rstrip() or label
    return label


def _parts(name: Words) -> set[Words]:
    """All that stands in a name side by side; names are short."""
    return {name[a:b] for a in range(len(name)) for b in range(a + 1, len(name) + 1)}


def _describes(name: Words) -> bool:
    """Whether it has more than a name: an epithet before it, or where somebody is from behind two words or more."""
    return name[0] in EPITHETS or "of" in name[2 + int(name[0] in DETERMINERS) :]


def _says_nothing(words: Words) -> bool:
    """Whether it is a title alone, "Mr.", or how somebody is addressed, "my dear"."""
    return all(word.lower().rstrip(".") in BARE_TITLES | DETERMINERS | EPITHETS for word in words)


def _without_possessive(words: Sequence[str]) -> Words:
    return tuple(words[:-1]) if len(words) > 1 and words[-1] in POSSESSIVE_ENDINGS else tuple(words)


def _first_noun(words: Words) -> int:
    """Where a phrase begins once its determiner is left out; the last word if there is nothing else."""
    return min(int(words[0].lower() in DETERMINERS), len(words) - 1)


def _is_name(words: Words, *, certain: bool) -> bool:
    """One capitalised word is a name only if `certain`: it is also found where no sentence begins."""
    return (certain or len(words) > 1) and is_name(words, _LEXICON)
