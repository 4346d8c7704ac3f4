"""Executors of other libraries count: the same digest, also when one of their workers is killed in the middle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh
from deadheat.errors import ExecutorError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets and processes that are closed late
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:A worker stopped while some jobs:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md"
TESTS = os.pathsep.join(map(str, Path(__file__).parents[:2]))  # where this file and its neighbours are imported from


def block(begin: str) -> str:
    """A block of code on the page."""
    code = re.search(rf"^```\n({begin}.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert code is not None
    return code[1]


def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-50, 51, (3000, 8)).astype(np.float32), rng.integers(0, 1500, 3000)


def digest() -> str:
    return dh.Task(*samples()).profile.digest()


class KillsOnce(Executor):
    """Makes one worker kill itself in its fifth task, once."""

    def __init__(self, executor: Executor, mark: Path) -> None:
        self.executor, self.mark, self.n = executor, mark, 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n += 1
        first = (killed_once, self.mark) if self.n == 5 else ()
        return self.executor.submit(*first, function, *args, **kwargs)

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        self.executor.shutdown(wait=wait)


def killed_once(mark: Path, function: Callable[..., Any], *args: Any) -> Any:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*args)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    pytest.importorskip("distributed", reason=needs("distributed").kwargs["reason"])
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=60, memory_limit=0
    )
    with cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """The folder of the page, with the files that its scripts name."""
    rows, labels = samples()
    for name, array in (("emb", rows), ("labels", labels), ("queries", rows[:40]), ("query-labels", labels[:40]),
                        ("gallery-0", rows[40:99]), ("gallery-1", rows[99:]), ("labels-0", labels[40:99]),
                        ("labels-1", labels[99:])):  # fmt: skip
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def run_block(begin: str, shared: Path, local: dict[str, str] | None = None) -> dict[str, Any]:
    """The results of a block of the page, but for its addresses."""
    code = block(begin)
    for address, here in {"/shared": str(shared), **(local or {})}.items():
        assert address in code
        code = code.replace(address, here)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    return names


def test_dask_replaces_a_worker_that_is_killed(client: Any, tmp_path: Path) -> None:
    executor = KillsOnce(client.get_executor(pure=False, retries=2), tmp_path / "killed")
    assert dh.Task(*samples(), executor=executor).profile.digest() == digest()
    assert (tmp_path / "killed").exists()


def test_the_block_of_dask(client: Any, shared: Path) -> None:
    names = run_block("from dask", shared, {"tcp://scheduler:8786": client.scheduler.address})
    rows, labels = samples()
    try:
        assert names["report"].profile == dh.Task(rows[:40], labels[:40], rows[40:], labels[40:]).profile
    finally:
        names["client"].close()


@pytest.mark.parametrize("library", ["loky", "joblib"])
def test_a_worker_of_loky_that_is_killed_is_one_error_and_a_checkpoint_goes_on(library: str, tmp_path: Path) -> None:
    module = "loky" if library == "loky" else "joblib.externals.loky"
    loky = pytest.importorskip(module, reason=needs(library).kwargs["reason"])
    executor, kept = KillsOnce(loky.get_reusable_executor(2, timeout=30), tmp_path / "killed"), tmp_path / "kept"
    with pytest.raises(ExecutorError, match=r"^a worker of the executor died .*a new one; \d of 8 portions are kept"):
        dh.Task(*samples(), executor=executor, checkpoint=kept).profile  # noqa: B018
    again = KillsOnce(loky.get_reusable_executor(2, timeout=30), tmp_path / "killed")
    assert dh.Task(*samples(), executor=again, checkpoint=kept).profile.digest() == digest()
    loky.get_reusable_executor(2).shutdown(wait=True, kill_workers=True)


def test_ray_repeats_a_task_whose_worker_is_killed(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the page, but for a worker that kills itself in its fifth portion."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("PYTHONPATH", TESTS)
    ray = pytest.importorskip("ray", reason=needs("ray").kwargs["reason"])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    lines = (
        "from test_executors import killed_once, Path", "if number == 5:",
        f"    killed_once(Path({str(shared / 'killed')!r}), int)", "return dh.Task",
    )  # fmt: skip
    try:
        names = run_block("import ray", shared, {"return dh.Task": "\n    ".join(lines)})
    finally:
        ray.shutdown()
    assert (shared / "killed").exists()
    assert names["profile"].digest() == digest()


POOL = """
import sys
from pathlib import Path
import deadheat as dh
from mpi4py.futures import MPIPoolExecutor
from test_executors import KillsOnce, samples

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        kills = KillsOnce(executor, Path(sys.argv[1], "killed"))
        found = dh.Task(*samples(), executor=kills, checkpoint=Path(sys.argv[1], "kept")).profile
    print(found.digest())
"""


def mpi(script: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in three ranks."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    mpiexec = shutil.which("mpiexec", path=path)
    if mpiexec is None:
        pytest.skip("needs mpiexec")
    (folder / "script.py").write_text(script)
    may = {  # more ranks than cores, and root in a container
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    command = [mpiexec, "-n", "3", sys.executable, *arguments, "script.py", str(folder)]
    environment = os.environ | may | {"PYTHONPATH": TESTS}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@needs("mpi4py")
def test_the_block_of_mpi(shared: Path) -> None:
    done = mpi(block("from mpi4py").replace("/shared", str(shared)), shared)
    assert (done.returncode, done.stdout) == (0, f"{digest()}\n"), done.stderr


@needs("mpi4py")
def test_mpi_ends_with_a_worker_that_is_killed_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    killed = mpi(POOL, tmp_path, "-m", "mpi4py.futures")
    assert killed.returncode != 0
    assert (tmp_path / "killed").exists()
    n_kept = len([*(tmp_path / "kept").glob("portion-*.npz")])
    assert 0 < n_kept < 8
    again = mpi(POOL, tmp_path, "-m", "mpi4py.futures")
    assert (again.returncode, again.stdout) == (0, f"{digest()}\n"), again.stderr


@needs("distributed", "sklearn")
def test_the_example() -> None:
    script = Path(__file__).parents[2] / "examples" / "dask_workers.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("The same profile as in one process: True\n")
    assert "1797 queries" in done.stdout
