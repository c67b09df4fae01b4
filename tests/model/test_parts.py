"""Where parts of others come from: files that are run, and packages that are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.model.config import build_model
from streamcoref.model.parts import PartOptions, load_code, load_installed_parts, loaded_code
from tests.model import toys

RULE = """
from typing import Literal

from streamcoref.model import UpdateOptions, UpdateRule

with open(__file__ + ".log", "a") as log:
    log.write("run\\n")


class Half(UpdateRule):
    def weight(self, span_reading, entity_reading, size):
        return size * 0.0 + 0.5


class HalfOptions(UpdateOptions):
    name: Literal["NAME"] = "NAME"

    def build(self, around):
        return Half()
"""


def rule_file(path: Path, name: str) -> Path:
    """Code that makes an update rule of that name, and a line in a file beside it whenever it is run."""
    path.write_text(RULE.replace("NAME", name), encoding="utf-8")
    return path


def times_run(path: Path) -> int:
    log = Path(f"{path}.log")
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture(autouse=True)
def _other_parts_stay_unknown() -> Iterator[None]:
    """What a test defines is forgotten after it, and installed packages are looked through anew."""
    before = {kind: dict(kind.kinds) for kind in PartOptions.__subclasses__()}
    load_installed_parts.cache_clear()
    yield
    load_installed_parts.cache_clear()
    for kind in PartOptions.__subclasses__():
        kind.kinds = before[kind]


def weight_of(name: str) -> object:
    """Of a model whose config names the rule."""
    return build_model(toys.config(update={"name": name})).update.weight(None, None, 7.0)


def test_code_is_run_and_its_parts_can_be_named(tmp_path: Path) -> None:
    file = rule_file(tmp_path / "rule.py", "half_by_file")
    with pytest.raises(StreamcorefError, match=r"update: unknown name 'half_by_file'; known: alpha, mean, first, last"):
        weight_of("half_by_file")
    load_code(file)
    assert weight_of("half_by_file") == 0.5
    assert loaded_code()[-1] == file


def test_code_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = rule_file(tmp_path / "rule.py", "half_once")
    monkeypatch.chdir(tmp_path)
    for path in (file, str(file), "rule.py", tmp_path / "." / "rule.py"):
        load_code(path)
    assert times_run(file) == 1
    assert loaded_code().count(file) == 1


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        load_code(rule_file(tmp_path / folder / "rule.py", f"half_{folder}"))
    assert weight_of("half_one") == weight_of("half_two") == 0.5


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match=r"nothing\.py: there is no such file with code$"):
        load_code(tmp_path / "nothing.py")
    with pytest.raises(StreamcorefError, match=r"there is no such file with code$"):
        load_code(tmp_path)


def test_a_file_of_another_kind_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rule.toml").write_text("a = 1")
    with pytest.raises(StreamcorefError, match=r"rule\.toml: this is not a Python file; its name ends in \.py$"):
        load_code(tmp_path / "rule.toml")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def (", r"SyntaxError: invalid syntax \(broken\.py, line 1\)"),
    ],
)
def test_code_that_fails_says_how_and_can_be_mended(tmp_path: Path, code: str, said: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(code)
    for _ in range(2):  # it counts as not run
        with pytest.raises(StreamcorefError, match=rf"broken\.py: this code cannot be run: {said}$") as caught:
            load_code(file)
        assert "\n" not in str(caught.value)
    assert file not in loaded_code()
    load_code(rule_file(file, "half_mended"))
    assert weight_of("half_mended") == 0.5


Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make a package of one module, as pip would leave it, with that module among its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def installing(module: str, code: str) -> None:
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        metadata = tmp_path / f"{module}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[streamcoref.parts]\nhalves = {module}\n")

    return installing


def test_an_installed_part_can_be_named(install: Install, tmp_path: Path) -> None:
    install("halves_of_others", RULE.replace("NAME", "half_by_package"))
    module = tmp_path / "halves_of_others.py"
    build_model(toys.config())
    assert times_run(module) == 0  # nobody asked for it
    assert weight_of("half_by_package") == 0.5
    assert times_run(module) == 1


def test_what_no_package_has_is_unknown(install: Install) -> None:
    install("halves_of_nobody", RULE.replace("NAME", "half_by_nobody"))
    with pytest.raises(StreamcorefError, match=r"^test: update: unknown name 'quarter'; known: .*half_by_nobody$"):
        weight_of("quarter")


def test_a_broken_package_is_named(install: Install) -> None:
    install("halves_in_pieces", "import no_such_module")
    assert build_model(toys.config())  # what is known needs no package
    with pytest.raises(StreamcorefError) as caught:
        weight_of("half_in_pieces")
    assert str(caught.value) == (
        "the installed parts halves (halves_in_pieces) cannot be imported: "
        "ModuleNotFoundError: No module named 'no_such_module'"
    )
