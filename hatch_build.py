"""Compiles the kernels in C when the package is built or installed, where there is a C compiler.

Without one, or with `CC` set to nothing, the package is as complete and somewhat slower: see docs/speed.md.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/streamcoref/model"
# Sources, with what the compiler is told of each. The numbers of the second are torch's to the last bit.
KERNELS: dict[str, list[str]] = {"link_rows": [], "int8_digits": ["-ffp-contract=off"]}


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        built = [f"/{FOLDER}/{name}.so" for name in KERNELS if self._build(name)]
        if not built:
            return
        build_data["artifacts"] += built
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"

    def _build(self, name: str) -> bool:
        source, library = (Path(self.root, FOLDER, name + suffix) for suffix in (".c", ".so"))
        library.unlink(missing_ok=True)
        problem = _compile(source, library, KERNELS[name])
        if problem:
            self.app.display_warning(f"What {source.name} is for will be slower: it was not compiled. {problem}")
        return not problem


def _compile(source: Path, library: Path, options: Sequence[str]) -> str:
    """What stood in the way, if anything."""
    command = shlex.split(os.environ.get("CC", "cc"))
    if os.name != "posix" or not command or shutil.which(command[0]) is None:
        return "There is no C compiler."
    # By its checksum a library is known that an older source has left behind.
    checksum = f"-DBUILT_FROM={zlib.crc32(source.read_bytes())}u"
    command += ["-O3", "-std=gnu11", *options, "-shared", "-fPIC", checksum, "-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{shlex.join(command)}: {done.stderr.strip()}" if done.returncode else ""
