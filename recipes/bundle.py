"""Put a trained model into the package as the default one: weights in 16-bit floats, configuration and tokenizer.

    python recipes/bundle.py runs/small-finetuned/best [FOLDER]

What only training needed leaves the configuration. The card, README.md of the folder, is written by hand and stays as
it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from streamcoref.model.checkpoint import BUNDLED, CARD, load_checkpoint, save_checkpoint


def main() -> None:
    source = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else BUNDLED
    card = target / CARD
    text = card.read_text(encoding="utf-8") if card.exists() else "# streamcoref default model\n"
    checkpoint = load_checkpoint(source)
    encoder = checkpoint.config.encoder.model_copy(update={"trainable_from": None, "attention_dropout": None})
    config = checkpoint.config.model_copy(update={"encoder": encoder})
    save_checkpoint(target, checkpoint._replace(config=config), text, torch.float16)


if __name__ == "__main__":
    main()
