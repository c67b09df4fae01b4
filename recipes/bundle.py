"""Put a trained model into the package as the default one: weights in 16-bit floats, configuration and tokenizer.

    python recipes/bundle.py runs/small-finetuned/best [FOLDER]

What only training needed leaves the configuration. The card, README.md of the folder, is written by hand and stays as
it is.

One number is set by hand: what a clear conflict in agreement costs, beyond what was learned. The model knows its
training texts too well to need agreement as much as on others. On dev, none, 1, 2 and 3 give 65.1, 64.5, 64.4 and 64.7
on LitBank, 54.0, 54.2, 54.4 and 54.5 on OntoGUM; and with 3 it keeps people apart that it would put together.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from streamcoref.model.base import CorefModel
from streamcoref.model.checkpoint import BUNDLED, CARD, load_checkpoint, save_checkpoint
from streamcoref.model.features.agreement import Value
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer

# Names that share a part or nothing, another gender, an "I" of another speaker, a "you" that is its own speaker
CONFLICTS = (
    Value.SHARED_NAME,
    Value.OTHER_NAME,
    Value.OTHER_GENDER,
    Value.OTHER_SPEAKER,
    Value.SAME_SPEAKER_OTHER,
)
PENALTY = 3.0


@torch.no_grad()
def penalise(model: CorefModel, penalty: float) -> None:
    """Lower the prior score of conflicts: their embeddings move along the weights that read them."""
    scorer = model.pair_score
    assert isinstance(scorer, CoarseToFineScorer)
    place = scorer.prior_features.names.index("agreement")
    table: torch.Tensor = scorer.prior_features.tables["agreement"].weight  # type: ignore[assignment]
    size = table.shape[1]
    weights = scorer.prior.weight[0, place * size : (place + 1) * size]
    table[list(CONFLICTS)] -= penalty * weights / weights.square().sum()


def main() -> None:
    source = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else BUNDLED
    card = target / CARD
    text = card.read_text(encoding="utf-8") if card.exists() else "# streamcoref default model\n"
    checkpoint = load_checkpoint(source)
    penalise(checkpoint.model, PENALTY)
    encoder = checkpoint.config.encoder.model_copy(update={"trainable_from": None, "attention_dropout": None})
    config = checkpoint.config.model_copy(update={"encoder": encoder})
    save_checkpoint(target, checkpoint._replace(config=config), text, torch.float16)


if __name__ == "__main__":
    main()
