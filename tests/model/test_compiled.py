"""Compiled kernels are those of the sources beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from streamcoref.model import compiled

NAMES = sorted(path.stem for path in compiled.FOLDER.glob("*.c"))


def test_no_kernel_has_the_name_of_a_module() -> None:
    """Python would take its library for the module."""
    assert NAMES == ["int8_digits", "link_rows"]
    assert not [name for name in NAMES if (compiled.FOLDER / f"{name}.py").exists()]


@pytest.mark.parametrize("name", NAMES)
def test_a_library_of_another_source_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled.library(name) is None:
        pytest.skip("the kernel was not compiled: install the package where there is a C compiler")
    source, built = (tmp_path / f"{name}{suffix}" for suffix in (".c", ".so"))
    for path in (source, built):
        shutil.copy(compiled.FOLDER / path.name, path)
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)
    assert compiled.library(name) is not None
    with source.open("a", encoding="utf-8") as file:
        file.write("\n")
    assert compiled.library(name) is None
    built.unlink()
    assert compiled.library(name) is None
