"""The readable name of an entity whose mentions pass by: a few forms with their counts instead of the mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcoref.language.labels import Form, best_form, clean_name, is_pronoun

PRONOUN_FORMS = 12  # that an entity remembers, of "I" as of "she": they tell how much a name weighs
NAME_FORMS = 24  # the others; more would have to be names that hardly ever come back
FORMS = PRONOUN_FORMS + NAME_FORMS


@dataclass(slots=True)
class RunningName:
    """As long as an entity has no more forms than are remembered, its name is the one that `readable_name` gives it."""

    forms: dict[Form, tuple[int, str]] = field(default_factory=dict)  # in order of appearance: count and label

    def add(self, words: Sequence[str], opens_sentence: bool, text: str) -> None:
        form = tuple(words), opens_sentence
        count, label = self.forms.get(form) or (0, clean_name(text))
        self.forms[form] = count + 1, label
        if count == 0 and len(self.forms) > PRONOUN_FORMS:
            self._forget(form)

    def merged(self, other: RunningName) -> RunningName:
        """Of two entities that are one."""
        both = RunningName(dict(self.forms))
        for form, (count, label) in other.forms.items():
            known, first = both.forms.get(form) or (0, label)
            both.forms[form] = known + count, first
            if known == 0 and len(both.forms) > PRONOUN_FORMS:
                both._forget(form)
        return both

    def _forget(self, new: Form) -> None:
        """One of the same kind as a new form, if there are too many of them."""
        pronoun = is_pronoun(new[0])
        alike = [form for form in self.forms if is_pronoun(form[0]) == pronoun]
        if len(alike) > (PRONOUN_FORMS if pronoun else NAME_FORMS):
            del self.forms[max((form for form in alike if form != new), key=self._expendable)]

    def _expendable(self, form: Form) -> tuple[int, int]:
        """Phrases go before names; of each the rarest, and of those the oldest."""
        words, _ = form
        kind = 0 if words[0][:1].isupper() and words[-1][:1].isupper() else 1
        return kind, -self.forms[form][0]

    def name(self) -> str:
        return self.forms[best_form({form: count for form, (count, _) in self.forms.items()})][1]

    def is_sound(self, mentions: int) -> bool:
        """Whether forms that were saved, and may have been changed, can be those of so many mentions."""
        counted = sum(count for count, _ in self.forms.values())
        pronouns = sum(is_pronoun(words) for words, _ in self.forms)
        names = len(self.forms) - pronouns
        if pronouns > PRONOUN_FORMS or names > NAME_FORMS:
            return False
        return counted == mentions or (counted < mentions and (pronouns == PRONOUN_FORMS or names == NAME_FORMS))

    def to_values(self) -> list[Any]:
        return [[*form, *seen] for form, seen in self.forms.items()]

    @classmethod
    def from_values(cls, values: Iterable[Any]) -> RunningName:
        return cls({(tuple(words), opens): (count, label) for words, opens, count, label in values})
