"""What `make demo` runs: read a story, show who is in it, write the page, score an imperfect answer."""

from __future__ import annotations

from pathlib import Path

from streamcoref.formats import read_documents, write_documents
from streamcoref.metrics import score_document

EXAMPLES = Path(__file__).resolve().parent
PAGE = EXAMPLES.parent / "build" / "demo.html"


def main() -> None:
    (story,) = read_documents(EXAMPLES / "marigold.conllu")
    print(f"The story {story.key!r}: {len(story.words):,} words in {len(story.sentence_ends)} sentences.\n")
    print("Its six most frequent entities, annotated by hand:")
    for entity in sorted(story.entities, key=lambda entity: -entity.size)[:6]:
        others = list(dict.fromkeys(mention.text for mention in entity.mentions if mention.text != entity.name))
        print(f"  {entity.size:3} × {entity.name:13} also: {', '.join(others[:5])}, …")

    (response,) = read_documents(EXAMPLES / "marigold-response.jsonl")
    scores = score_document(story.clusters, response.predicted_clusters or ())
    print(f"\nAn answer that loses the woman in the yellow coat: CoNLL F1 {100 * scores.conll_f1:.2f}")

    PAGE.parent.mkdir(exist_ok=True)
    write_documents([story], PAGE, "html", force=True)
    print(f"\nThe story with its entities, to open in a browser: {PAGE.relative_to(EXAMPLES.parent)}")
    print("\nNext: a model. None is bundled yet, so these entities are the annotator's, not the program's.")


if __name__ == "__main__":
    main()
