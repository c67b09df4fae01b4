"""The readable name of an entity whose mentions pass by: a few forms with their counts instead of the mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcoref.naming import clean_name, is_pronoun, readable_name

FORMS = 24  # that an entity remembers; more would have to be names that hardly ever come back
LARGEST_COUNT = 1000  # that is weighed as it is; larger ones are scaled down together

Form = tuple[tuple[str, ...], bool]  # the words of a mention, and whether it opens a sentence


@dataclass(slots=True)
class RunningName:
    """As long as an entity has no more than FORMS forms, its name is the one that `readable_name` gives it."""

    forms: dict[Form, tuple[int, str]] = field(default_factory=dict)  # in order of appearance: count and label

    def add(self, words: Sequence[str], opens_sentence: bool, text: str) -> None:
        form = tuple(words), opens_sentence
        count, label = self.forms.get(form) or (0, clean_name(text))
        self.forms[form] = count + 1, label
        if len(self.forms) > FORMS:
            others = [other for other in self.forms if other != form]
            del self.forms[max(others, key=self._expendable)]

    def _expendable(self, form: Form) -> tuple[int, int]:
        """Pronouns go first, then phrases, then names; of each the rarest, and of those the oldest."""
        words, _ = form
        kind = 2 if is_pronoun(words) else 0 if words[0][:1].isupper() and words[-1][:1].isupper() else 1
        return kind, -self.forms[form][0]

    def name(self) -> str:
        largest = max(count for count, _ in self.forms.values())
        scale = max(1.0, largest / LARGEST_COUNT)
        mentions: list[Form] = []
        labels: list[str] = []
        for form, (count, label) in self.forms.items():
            weight = max(1, int(count / scale))
            mentions += [form] * weight
            labels += [label] * weight
        return labels[readable_name(mentions)]

    def to_values(self) -> list[Any]:
        return [[*form, *seen] for form, seen in self.forms.items()]

    @classmethod
    def from_values(cls, values: Iterable[Any]) -> RunningName:
        return cls({(tuple(words), opens): (count, label) for words, opens, count, label in values})
