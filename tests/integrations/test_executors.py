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
from deadheat.errors import InvalidTypeError

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
LIBRARIES = pytest.mark.parametrize("library", ["dask", "loky", "joblib", "ray"])


def block(begin: str) -> str:
    """A block of code on the page."""
    code = re.search(rf"^```\n({begin}.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert code is not None
    return code[1]


def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-50, 51, (1500, 8)).astype(np.float32), rng.integers(0, 100, 1500)


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


@pytest.fixture(scope="module")
def ray_executor() -> Iterator[Executor]:
    """The one of the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("PYTHONPATH", TESTS)
        ray = pytest.importorskip("ray", reason=needs("ray").kwargs["reason"])
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        result: dict[str, Any] = {}
        exec(compile(block("import concurrent.futures"), str(PAGE), "exec"), result)
        yield result["RayExecutor"]()
        ray.shutdown()


@pytest.fixture
def workers(library: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """An executor, or a function that makes one."""
    if library == "dask":
        yield request.getfixturevalue("client").get_executor(pure=False, retries=2)
    elif library == "ray":
        yield request.getfixturevalue("ray_executor")
    else:
        module = "loky" if library == "loky" else "joblib.externals.loky"
        loky = pytest.importorskip(module, reason=needs(library).kwargs["reason"])
        yield lambda: loky.get_reusable_executor(2, timeout=30)
        loky.get_reusable_executor(2).shutdown(wait=True, kill_workers=True)


@LIBRARIES
def test_the_profile_is_the_same_for_arrays_and_files(workers: Any, tmp_path: Path) -> None:
    rows, labels = samples()
    np.save(tmp_path / "emb.npy", rows)
    gallery, gallery_labels = rows[::-1][:1200] + 1, labels[::-1][:1200]
    for given in ((rows, labels), (tmp_path / "emb.npy", labels), (rows, labels, gallery, gallery_labels)):
        cluster = dh.Cluster(workers, scratch=tmp_path, tasks=6)
        assert dh.Task(*given, executor=cluster).profile.digest() == dh.Task(*given).profile.digest()


@LIBRARIES
def test_a_worker_that_is_killed_in_the_middle(workers: Any, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    kills = KillsOnce(workers, mark) if isinstance(workers, Executor) else lambda: KillsOnce(workers(), mark)
    result = dh.Task(*samples(), executor=dh.Cluster(kills, tasks=15)).profile
    assert mark.exists()
    assert result.digest() == dh.Task(*samples()).profile.digest()


MPI = """
import sys
from pathlib import Path
import deadheat as dh
from mpi4py.futures import MPIPoolExecutor
from test_executors import KillsOnce, samples

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        cluster = dh.Cluster(KillsOnce(executor, Path(sys.argv[1], "killed")), tasks=15)
        found = dh.Task(*samples(), executor=cluster, checkpoint=Path(sys.argv[1], "kept")).profile
    print(found.digest(), cluster.summary.tasks)
"""


@needs("mpi4py")
def test_mpi_ends_with_a_worker_that_is_killed_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    """Three ranks: one that asks and two workers."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    mpiexec = shutil.which("mpiexec", path=path)
    if mpiexec is None:
        pytest.skip("needs mpiexec")
    (tmp_path / "script.py").write_text(MPI)
    may = {  # more ranks than cores, and root in a container
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", "script.py", str(tmp_path)]

    def run() -> subprocess.CompletedProcess[str]:
        environment = os.environ | may | {"PYTHONPATH": TESTS}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    killed = run()
    assert killed.returncode != 0
    assert (tmp_path / "killed").exists()
    again = run()
    assert again.returncode == 0, again.stderr
    digest, n_task = again.stdout.split()
    assert digest == dh.Task(*samples()).profile.digest()
    assert int(n_task) <= 15 - 1  # the others were kept


@pytest.mark.parametrize("library", ["dask", "joblib", "ray", "mpi4py"])
def test_what_these_libraries_have_and_is_no_executor_is_refused_with_a_remedy(
    library: str, request: pytest.FixtureRequest
) -> None:
    module = pytest.importorskip(library, reason=needs(library).kwargs["reason"])
    made: dict[str, Callable[[], tuple[Any, str]]] = {
        "dask": lambda: (request.getfixturevalue("client"), r"client.get_executor\(pure=False, retries=2\)"),
        "joblib": lambda: (module.Parallel(2), "joblib.externals.loky.get_reusable_executor"),
        "ray": lambda: (module, "cluster.md.* four lines"),
        "mpi4py": lambda: (module, r"mpi4py.futures.MPIPoolExecutor\(\)"),
    }
    value, remedy = made[library]()
    with pytest.raises(InvalidTypeError, match=rf"^executor must be an executor of PEP 3148 .*, but is .*{remedy}"):
        dh.Task([[0.0]], [0], executor=value)


@needs("fsspec")
def test_the_page_runs_as_it_is_written(client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """But for its addresses. The files that it names exist, and no others; a pattern matches two."""
    code = text = block(r"from dask\.distributed")
    local = {"tcp://scheduler:8786": client.scheduler.address, "s3://bucket": f"file://{tmp_path}", "/shared": tmp_path}
    for address, here in local.items():
        assert address in text
        text = text.replace(address, str(here))
    rng = np.random.default_rng(4)
    for name in re.findall(r'"s3://bucket/(.*?)"', code):
        for path in {tmp_path / name.replace("*", number) for number in "01"}:
            np.save(path, rng.integers(0, 5, 40 if "labels" in name else (40, 8)))
    (tmp_path / "scratch").mkdir()
    result: dict[str, Any] = {}
    exec(compile(text, str(PAGE), "exec"), result)
    try:
        assert result["report"].profile.n_query == 40
        assert result["cluster"].summary.pairs == 40 * 80
        assert str(result["cluster"].summary) in capsys.readouterr().out
    finally:
        result["client"].close()


@needs("distributed", "sklearn")
def test_the_example() -> None:
    script = Path(__file__).parents[2] / "examples" / "dask_workers.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("The same profile as in one process: True\n")
    assert "1797 queries" in done.stdout
