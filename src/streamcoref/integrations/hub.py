"""Models into folders and onto the Hugging Face hub. `streamcoref.load` takes either back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from streamcoref._precisions import FLOAT32
from streamcoref.errors import StreamcorefError
from streamcoref.integrations.model_card import Figures, model_card
from streamcoref.model.checkpoint import CARD, save_checkpoint
from streamcoref.model.storage import lossless

if TYPE_CHECKING:
    from streamcoref.evaluation import Evaluation
    from streamcoref.resolver import Resolver


def save_model(
    resolver: Resolver,
    folder: Path,
    figures: Figures | Evaluation | None = None,
    licence: str | None = None,
    title: str | None = None,
) -> None:
    """The model's folder, with a new card above the one that it had."""
    check_whole(resolver)
    had = resolver.folder / CARD
    before = had.read_text(encoding="utf-8") if had.is_file() else None
    card = model_card(resolver.checkpoint, title or folder.resolve().name, figures, licence, before)
    try:
        save_checkpoint(folder, resolver.checkpoint, card, lossless(resolver.checkpoint.model.state_dict()))
    except OSError as error:
        raise StreamcorefError(f"cannot write the model to {folder}: {error.strerror or error}") from error


def check_whole(resolver: Resolver) -> None:
    """Raise if a model has not all of its numbers any more."""
    if resolver.precision != FLOAT32:
        raise StreamcorefError(f"this model was loaded in {resolver.precision}, to read; load it in float32 to save it")


def push_model(
    resolver: Resolver,
    name: str,
    *,
    private: bool,
    revision: str | None,
    message: str,
    token: str | None,
    figures: Figures | Evaluation | None,
    licence: str | None,
) -> str:
    """Make the repository if it is not there, add a commit, and say where it is."""
    check_whole(resolver)
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi(token=token)
    try:
        repository = api.create_repo(name, private=private, exist_ok=True).repo_id
        if revision is not None:
            api.create_branch(repository, branch=revision, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            save_model(resolver, Path(folder), figures, licence, repository)
            done = api.upload_folder(repo_id=repository, folder_path=folder, revision=revision, commit_message=message)
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        said = str(error).strip().splitlines()[0]
        raise StreamcorefError(
            f"the hub did not take the model {name}: {said}; is there a token that may write, by `hf auth login` "
            "or token=?"
        ) from error
    return str(done.commit_url)
