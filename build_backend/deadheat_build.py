"""scikit-build-core, and a compiler from the package index where the machine has none.

pip asks this module (`[build-system]` of pyproject.toml) for wheels. It looks for a C++ compiler that can build the
core: what CXX names, or the first on the PATH that knows C++20 and vector extensions. Without one it requires
`ziglang`, a package that holds Clang and all its headers, and points CMake at it through wrappers, since CMake wants
single programs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scikit_build_core import build as scikit
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, Any] | None
Folder = str | None

WINDOWS = sys.platform == "win32"
ZIG = "ziglang>=0.13"
ZIG_MACHINES = ("x86_64", "amd64", "aarch64", "arm64")  # ziglang has wheels for these on every system
LACKING = (
    "deadheat has loops to compile, and there is no C++20 compiler here: install GCC 11 or Clang 14, or newer: "
    "`apt install g++`, `dnf install gcc-c++`, `apk add g++`, "
    "`xcode-select --install`, `winget install LLVM.LLVM`"
)

# What the core asks of a compiler and its library, in brief.
PROBE = """
#include <bit>
#include <span>
typedef float Four __attribute__((vector_size(16)));
int main(int argc, char **) {
    int numbers[1] = {argc};
    const Four four = Four{} + static_cast<float>(argc);
    return std::popcount(static_cast<unsigned>(std::span<const int>(numbers)[0])) + (four[0] < 0.0f);
}
"""


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return scikit.get_requires_for_build_wheel(config_settings) + compiler_requirements()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return scikit.get_requires_for_build_editable(config_settings) + compiler_requirements()


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: Folder = None) -> str:
    with a_compiler(config_settings) as settings:
        return scikit.build_wheel(wheel_directory, settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: Folder = None) -> str:
    with a_compiler(config_settings) as settings:
        return scikit.build_editable(wheel_directory, settings, metadata_directory)


def compiler_requirements() -> list[str]:
    """Return the packages to install from the index if there is no compiler."""
    if the_users_choice() or found_compiler():
        return []
    if platform.machine().lower() not in ZIG_MACHINES:
        raise SystemExit(LACKING)
    return [ZIG, "ninja"] if WINDOWS else [ZIG]


@contextlib.contextmanager
def a_compiler(settings: Settings) -> Iterator[Settings]:
    """The environment names a compiler meanwhile; out come the settings of the build, changed if it needs that."""
    before = dict(os.environ)
    try:
        if the_users_choice():
            yield settings
        elif compiler := found_compiler():
            os.environ["CXX"] = compiler
            yield settings
        elif importlib.util.find_spec("ziglang"):
            with tempfile.TemporaryDirectory(prefix="deadheat-zig-", ignore_cleanup_errors=True) as folder:
                point_cmake_at_zig(Path(folder))
                # what CMake remembers of a compiler that is gone would break the next build
                yield {**(settings or {}), "build-dir": str(Path(folder, "build"))}
        else:
            raise SystemExit(f"{LACKING}, `pip install ziglang`")
    finally:
        os.environ.clear()
        os.environ.update(before)


def the_users_choice() -> str | None:
    """The compiler that the user named, which is used as it is, or None."""
    if "CMAKE_CXX_COMPILER" in os.environ.get("CMAKE_ARGS", "") or "CMAKE_TOOLCHAIN_FILE" in os.environ:
        return "CMake's"
    named = os.environ.get("CXX")
    if named and not shutil.which(shlex.split(named, posix=not WINDOWS)[0].strip('"')):
        raise SystemExit(f"CXX is {named!r}, but there is no such program: install it, or unset CXX.")
    return named


def found_compiler() -> str | None:
    """The first C++ compiler on the PATH that can build the core, or None."""
    pythons = shlex.split(sysconfig.get_config_var("CXX") or "")[:1]
    names = ["clang++"] if WINDOWS else [*pythons, "c++", "g++", "clang++"]
    return next((path for name in names if (path := shutil.which(name)) and works(path)), None)


def works(compiler: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(PROBE)
        command = [compiler, "-std=c++20", str(source), "-o", str(Path(folder, "probe.exe"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def point_cmake_at_zig(folder: Path) -> None:
    """Write wrappers of ziglang's tools into a folder, and name them in the environment."""
    package = importlib.util.find_spec("ziglang")
    assert package is not None
    zig = Path(str(package.origin)).parent / ("zig.exe" if WINDOWS else "zig")
    # by default zig compiles for the very processor it runs on, and traps undefined behaviour
    compiler = wrapper(folder / "c++", zig, "c++ -mcpu=baseline -fno-sanitize=undefined")
    archiver = wrapper(folder / "ar", zig, "ar")
    indexer = wrapper(folder / "ranlib", zig, "ranlib")
    os.environ["CXX"] = str(compiler)
    # zig compiles its C++ library for whatever is linked, so CMake's trials do without linking
    tools = {"AR": archiver.as_posix(), "RANLIB": indexer.as_posix(), "TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY"}
    arguments = [os.environ.get("CMAKE_ARGS", ""), *(f'"-DCMAKE_{name}={value}"' for name, value in tools.items())]
    os.environ["CMAKE_ARGS"] = " ".join(arguments)
    if WINDOWS:
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    for cache in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        os.environ.setdefault(cache, str(folder / "cache"))


def wrapper(path: Path, program: Path, arguments: str) -> Path:
    """A program that is another with some arguments."""
    if WINDOWS:
        path = path.with_suffix(".bat")
        path.write_text(f'@"{program}" {arguments} %*\n')
    else:
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} {arguments} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
