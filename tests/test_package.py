"""The package as a whole: its public names, what importing it costs, and what its papers say of it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import deadheat as dh

ROOT = Path(__file__).parent.parent
PUBLIC = [
    "Report",
    "Result",
    "Rounded",
    "TieProfile",
    "Tolerance",
    "collisions",
    "compare",
    "confidence",
    "evaluate",
    "exploit",
    "generalization_gap",
    "grouped",
    "measure",
    "measures",
    "plots",
    "precision",
    "profile",
    "profile_run",
    "profile_scores",
    "random_baseline",
    "read",
    "reference",
    "words",
]


def test_public_names_are_these() -> None:
    assert sorted(dh.__all__) == PUBLIC
    assert all(hasattr(dh, name) for name in PUBLIC)


def test_every_public_name_is_documented_with_an_example_or_its_attributes() -> None:
    for name in PUBLIC:
        value = getattr(dh, name)
        text = inspect.getdoc(value) or ""
        assert ">>>" in text or "Attributes" in text or inspect.ismodule(value), name


def test_import_loads_nothing_heavy() -> None:
    heavy = (
        "numba",
        "llvmlite",
        "scipy",
        "sklearn",
        "pyarrow",
        "matplotlib",
        "rich",
        "click",
        "torch",
        "threadpoolctl",
    )
    program = f"import sys, deadheat; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version_is_the_same_everywhere() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{dh.__version__}"' in project
    assert f"## {dh.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_readme_has_two_commands_for_a_fresh_machine() -> None:
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert [command.rsplit("&& ", 1)[1] for command in commands] == ["deadheat demo", "pytest"]


def test_nothing_is_compiled_with_fast_math() -> None:
    options = (ROOT / "CMakeLists.txt").read_text()
    assert "-ffp-contract=off" in options
    for fast in ("fast-math", "-Ofast", "-funsafe", "-fassociative", "-freciprocal", "-ffinite", "-fno-signed-zeros"):
        assert fast not in options


def test_studies_are_imported_on_use_and_a_wrong_name_is_an_error() -> None:
    program = (
        "import sys, deadheat as dh; assert 'deadheat.analyses.exploit' not in sys.modules;"
        "assert 'exploit' in dir(dh); dh.exploit; assert 'deadheat.analyses.exploit' in sys.modules;"
        "print(hasattr(dh, 'exploits_'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
