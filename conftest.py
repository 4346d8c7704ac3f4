"""Before any test: a core that is older than its sources is built anew; a page that needs PyTorch may be skipped.

After each: figures are closed, of which Matplotlib keeps no more than twenty in silence.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # how long an example takes says more of the machine
settings.load_profile("untimed")

ROOT = Path(__file__).parent
collect_ignore_glob = ["tests/*/twins.py"]  # of one name, as rooms have one each; they hold no tests
BUILD = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "-e", str(ROOT)]


def is_stale() -> bool:
    """Whether a C++ file is newer than the core that an editable installation of this very tree loads."""
    package, core = importlib.util.find_spec("deadheat"), importlib.util.find_spec("deadheat._core")
    if package is None or not str(package.origin).startswith(str(ROOT)):
        return False
    if core is None or not hasattr(core.loader, "rebuild"):  # built by hand, or not at all
        return False
    sources = [ROOT / "CMakeLists.txt", *(ROOT / "src" / "core").rglob("*.*")]
    return max(path.stat().st_mtime for path in sources) > Path(str(core.origin)).stat().st_mtime


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not is_stale():
        return
    print("src/core has changed: building", flush=True)
    done = subprocess.run(BUILD, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.exit(f"src/core does not build:\n{done.stdout}{done.stderr}", returncode=3)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The page about PyTorch is a session with it, which the extra `test` does not bring."""
    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.path == ROOT / "docs" / "how-to" / "pytorch-loop.md":
                item.add_marker(pytest.mark.skip(reason="the page needs PyTorch: pip install 'deadheat[torch]'"))


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
