"""Models that other packages bring: found by name wherever a model is named, and what is said where they are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import streamcoref
from streamcoref.cli import app
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import find_checkpoint, load_checkpoint
from tests import toy_resolver

Install = Callable[..., Path]
TEXT = "Anna saw the captain. He left her. She lost his letter, and he found it."


def install_into(place: Path, model: str, module: str, code: str, value: str = "folder") -> Path:
    """A package as pip would leave it, with a model among its entry points; where its folder `model` is."""
    package = place / module
    package.mkdir()
    (package / "__init__.py").write_text(code, encoding="utf-8")
    metadata = place / f"{module}-1.0.dist-info"
    metadata.mkdir()
    name = module.replace("_", "-")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[streamcoref.models]\n{model} = {module}:{value}\n")
    return package / "model"


CODE = 'from pathlib import Path\n\nfolder = Path(__file__).parent / "model"\n'


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    monkeypatch.chdir(tmp_path)

    def installing(model: str, module: str, code: str = CODE, value: str = "folder") -> Path:
        return install_into(place, model, module, code, value)

    return installing


def test_it_is_found_by_its_name(install: Install) -> None:
    folder = toy_resolver.save_model(install("base", "coref_found"))
    assert "coref_found" not in sys.modules
    assert find_checkpoint("base") == find_checkpoint(Path("base")) == folder
    resolver = streamcoref.load("base")
    assert resolver.folder == folder.resolve()
    assert resolver.fingerprint == streamcoref.load(folder).fingerprint
    assert load_checkpoint("base").config == resolver.checkpoint.config


def test_the_path_may_be_a_str(install: Install) -> None:
    code = 'import os\n\nfolder = os.path.join(os.path.dirname(__file__), "model")\n'
    folder = toy_resolver.save_model(install("text", "coref_text", code))
    assert find_checkpoint("text") == folder


def test_the_command_line_takes_the_name(install: Install, tmp_path: Path) -> None:
    toy_resolver.save_model(install("base", "coref_commanded"))
    (tmp_path / "text.txt").write_text(TEXT)
    done = CliRunner().invoke(app, ["resolve", "--model", "base", "text.txt", "-o", "out.json"])
    assert done.exit_code == 0, done.output
    assert "mentions" in (tmp_path / "out.json").read_text()


def test_spacy_takes_the_name(install: Install) -> None:
    spacy = pytest.importorskip("spacy")
    folder = toy_resolver.save_model(install("base", "coref_piped"))
    nlp = spacy.blank("en")
    component = nlp.add_pipe("streamcoref", config={"model": "base"})
    nlp(TEXT)
    assert component.resolver.folder == folder.resolve()


def test_it_comes_before_a_folder_of_its_name_but_not_before_a_path(install: Install, tmp_path: Path) -> None:
    """A name means one model wherever one is; `./base` is the folder."""
    installed = toy_resolver.save_model(install("base", "coref_first"))
    beside = tmp_path / "base"
    beside.mkdir()
    assert find_checkpoint("base") == installed
    assert find_checkpoint("./base") == Path("base")
    assert find_checkpoint(Path("base")) == Path("base")
    assert find_checkpoint(str(beside)) == beside


def test_the_default_stays_what_it_is_and_so_do_names_with_a_slash(install: Install, tmp_path: Path) -> None:
    own = find_checkpoint("default")
    toy_resolver.save_model(install("default", "coref_pretender"))
    toy_resolver.save_model(install("owner/model", "coref_owner"))
    assert find_checkpoint("default") == own
    (tmp_path / "owner" / "model").mkdir(parents=True)
    assert find_checkpoint("owner/model") == Path("owner/model")
    assert not sys.modules.keys() & {"coref_pretender", "coref_owner"}


def test_where_base_is_missing_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StreamcorefError) as caught:
        streamcoref.load("base")
    assert str(caught.value) == (
        "the model base is a package of its own, which is not installed; in a clone of streamcoref, "
        "pip install ./models/base installs it"
    )
    (tmp_path / "base").mkdir()
    assert find_checkpoint("base") == Path("base")


def test_other_names_are_told_what_there_is(install: Install) -> None:
    install("base", "coref_listed")
    with pytest.raises(StreamcorefError) as caught:
        streamcoref.load("bass")
    assert str(caught.value) == (
        "there is no model folder bass, and a name on the hub has the form owner/model; installed models: base, default"
    )
    assert "coref_listed" not in sys.modules


FAULTS = {
    "broken": ("import no_such_module\n", "folder", r"cannot be found: ModuleNotFoundError: .*; mend or remove that"),
    "without": ("", "folder", r"cannot be found: AttributeError: .*; mend or remove that package$"),
    "callable": (
        "def folder(): ...\n",
        "folder",
        "has no folder: coref_callable:folder is a function, not a path; mend",
    ),
    "empty": (CODE, "folder", r"has no folder: there is no \S+/coref_empty/model; install that package again$"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_package_is_named(fault: str, install: Install) -> None:
    code, value, said = FAULTS[fault]
    install("base", f"coref_{fault}", code, value)
    with pytest.raises(
        StreamcorefError, match=f"^the model base, which the package coref-{fault} brings, {said}"
    ) as caught:
        streamcoref.load("base")
    assert "\n" not in str(caught.value)


def test_two_packages_with_one_name(install: Install) -> None:
    install("base", "coref_one")
    install("base", "coref_two")
    with pytest.raises(StreamcorefError) as caught:
        streamcoref.load("base")
    assert str(caught.value) == "the packages coref-one and coref-two all have a model called base; remove all but one"
