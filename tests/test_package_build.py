"""The package as others get it: built, checked, installed where nothing of the repository is, and used there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import streamcoref
from streamcoref.training import read_chain

ROOT = Path(__file__).resolve().parent.parent
NEEDS = [name for name in ("build", "twine", "hatchling", "pip") if find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.model,
    pytest.mark.skipif(bool(NEEDS), reason=f"{', '.join(NEEDS)} not installed: pip install 'streamcoref[dev]'"),
]
SENTENCE = "Anna Weber lost her keys. She looked for them everywhere."


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """In an environment without a word on this repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    environment |= variables
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist and the wheel that was made from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of an environment that has the wheel, and otherwise what we depend on."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=built)
    (site,) = folder.glob("lib/python*/site-packages")
    packages = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "dependencies.pth").write_text("\n".join(packages), encoding="utf-8")
    return folder / "bin"


def test_sdist_and_wheel_are_complete_and_valid(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    (wheel,) = built.glob("*.whl")
    assert sdist.name == f"streamcoref-{streamcoref.__version__}.tar.gz"
    platform = sysconfig.get_platform().replace("-", "_") if shutil.which("cc") else "any"
    assert wheel.name == f"streamcoref-{streamcoref.__version__}-py3-none-{platform}.whl"
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, cwd=built)
    inside = {f"streamcoref/{path.relative_to(ROOT / 'src/streamcoref').as_posix()}" for path in package_files()}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith("streamcoref-")}
    assert names == inside
    with tarfile.open(sdist) as source:
        top = {Path(name).relative_to(sdist.name.removesuffix(".tar.gz")).as_posix() for name in source.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "SECURITY.md", "Makefile"} <= top
    assert "tests/test_package_build.py" in top
    assert not [name for name in top if name.startswith((".venv", "runs", "build"))]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_wheel_brings_the_compiled_kernels(installed: Path, tmp_path: Path) -> None:
    code = (
        "from streamcoref.model import int8_kernel, link_kernel;"
        "print(link_kernel.library() is not None, int8_kernel.compiled_digits() is not None)"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path) == "True True\n"


@pytest.mark.parametrize("compiler", ["", "false", "no-such-compiler"])
def test_where_nothing_compiles_the_wheel_is_pure(built: Path, tmp_path: Path, compiler: str) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as source:
        light = [member for member in source.getmembers() if "/models/" not in member.name]
        source.extractall(tmp_path, light, filter="data")
    (folder,) = tmp_path.iterdir()
    command = [sys.executable, *f"-m build --wheel --no-isolation --outdir {tmp_path} {folder}".split()]
    said = run("sh", "-c", f"{shlex.join(command)} 2>&1", cwd=tmp_path, CC=compiler)
    for source in ("link_rows.c", "int8_digits.c"):
        assert f"What {source} is for will be slower: it was not compiled" in said
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]


def package_files() -> list[Path]:
    files = (path for path in (ROOT / "src/streamcoref").rglob("*") if path.is_file())
    return [path for path in files if "__pycache__" not in path.parts]


def test_the_wheel_resolves_a_sentence_with_no_repository_around(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import streamcoref; print(streamcoref.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    code = (
        f"import streamcoref; document = streamcoref.load().resolve({SENTENCE!r});"
        "print([mention.text for mention in document.entities[0].mentions])"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path) == "['Anna Weber', 'her', 'She']\n"
    (tmp_path / "letter.txt").write_text(SENTENCE, encoding="utf-8")
    assert "Anna Weber (person, 3 mentions)" in run(installed / "streamcoref", "resolve", "letter.txt", cwd=tmp_path)


def test_command_module_and_entry_points_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    said = f"streamcoref {streamcoref.__version__}\n"
    assert run(installed / "streamcoref", "--version", cwd=tmp_path) == said
    assert run(installed / "python", "-m", "streamcoref", "--version", cwd=tmp_path) == said
    code = (
        "from importlib.metadata import distributions\n"
        "ours = next(d for d in distributions() if d.name == 'streamcoref')\n"
        "print([(point.group, point.name) for point in ours.entry_points])"
    )
    points = run(installed / "python", "-c", code, cwd=tmp_path)
    assert "('spacy_factories', 'streamcoref')" in points
    assert "('console_scripts', 'streamcoref')" in points


BASE = ROOT / "models/base"


def test_the_larger_model_is_a_package_of_its_own(installed: Path, tmp_path: Path) -> None:
    bundle = read_chain(ROOT / "recipes/base/chain.toml").bundle
    assert bundle is not None
    sizes = [path.stat().st_size / 1e6 for path in (ROOT / bundle.folder).iterdir()]
    assert sum(sizes) < 120
    assert max(sizes) < 95
    source = tmp_path / "base"
    shutil.copytree(BASE, source, ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, source, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    install = ("-m", "pip", "--python", installed / "python", "install", "--quiet", "--no-deps", wheel)
    run(sys.executable, *install, cwd=tmp_path)
    (tmp_path / "letter.txt").write_text(SENTENCE, encoding="utf-8")
    answer = run(installed / "streamcoref", "resolve", "letter.txt", "--model", "base", cwd=tmp_path)
    assert "Anna Weber (person, 3 mentions)" in answer
