"""The PyTorch path: the digest of the NumPy path, on the CPU and, where there is one, on a GPU.

Also where products are not what their type says: bfloat16 as the CPU really multiplies it where it can, and TF32 as
GPUs do, imitated. Each comes with a control that shows that the products do err, and that a bound made for float32
would have let them decide.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_invariance as invariance
from click.testing import CliRunner
from keyed import profiled

import deadheat as dh
from deadheat.cli.main import main
from deadheat.engine.counting import layout, on_device
from deadheat.engine.counting.on_device import BFLOAT16, IEEE, TF32, Device, open_device
from deadheat.engine.distances import bounds
from deadheat.engine.distances import registry as distance_registry

torch: Any = pytest.importorskip("torch", reason="the extra 'torch' is not installed")

HERE = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DUPLICATES = invariance.example(invariance.gaussian_with_duplicates)
RULES = ["exact", "float16", "bfloat16", "float32", dh.Rounded("float16", of="distance"), dh.Tolerance(0.01)]

on_every_device = pytest.mark.parametrize("device", HERE)


@pytest.fixture(autouse=True)
def _setting() -> Iterator[None]:
    """The precision of float32 products is one setting for the whole process."""
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


def in_pieces(monkeypatch: pytest.MonkeyPatch, cells: int = 1500) -> None:
    """Small blocks, and strips of 64 columns, the fewest that there are."""
    monkeypatch.setattr(layout, "BLOCK_ROWS", 33)
    monkeypatch.setattr("deadheat.engine.counting.on_device.CELLS", {"cpu": cells, "cuda": cells})


def same(device: Any, *given: Any, threads: int | None = None, **options: Any) -> bool:
    """Whether a device gives the profile that NumPy gives."""
    return profiled(*given, **options, device=device, threads=threads) == profiled(*given, **options)


# The same profile -----------------------------------------------------------------------------------------------------


@on_every_device
@invariance.every_kind_and_distance
def test_every_kind_of_data(kind, distance, device, monkeypatch):
    rows, labels = invariance.example(kind)
    for _ in range(2):
        assert same(device, rows, labels, distance=distance)
        assert same(device, rows[:60], labels[:60], rows[60:], labels[60:], distance=distance, threads=3)
        in_pieces(monkeypatch)


@on_every_device
@pytest.mark.parametrize("ties", RULES, ids=str)
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_every_meaning_of_tied(distance, ties, device, monkeypatch):
    if isinstance(ties, dh.Rounded) and ties.of == "distance" and distance == "inner_product":
        ties = dh.Rounded("float16")
    in_pieces(monkeypatch)
    for kind in (invariance.gaussian_with_duplicates, invariance.small_integers):
        assert same(device, *invariance.example(kind), distance=distance, ties=ties)


@on_every_device
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_junk_and_distractors(distance, device, monkeypatch):
    rng = np.random.default_rng(3)
    in_pieces(monkeypatch)
    for junk in (rng.random(170) < 0.2, rng.random((170, 170)) < 0.2):
        assert same(device, *DUPLICATES, distance=distance, junk=junk)


@on_every_device
@pytest.mark.parametrize("precision", ["highest", "medium"])
def test_bits(device, precision, monkeypatch):
    rows, labels = np.random.default_rng(9).random((150, 77)) < 0.3, np.arange(150) % 6
    packed = np.packbits(rows, axis=1)
    in_pieces(monkeypatch)
    torch.set_float32_matmul_precision(precision)
    assert same(device, rows, labels, distance="hamming")
    assert same(device, packed[:40], labels[:40], packed, labels, distance="hamming")


@on_every_device
@pytest.mark.parametrize("share", [0.0, 2.0])
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_whole_tiles_and_single_pairs_in_float64(distance, share, device, monkeypatch):
    in_pieces(monkeypatch)
    monkeypatch.setattr(on_device, "MANY_OPEN", share)
    monkeypatch.setattr(on_device, "PAIR_NUMBERS", 100)
    for kind in invariance.KINDS:
        assert same(device, *invariance.example(kind), distance=distance)


def test_little_is_left_to_the_processor(monkeypatch):
    """What the first product leaves open is decided on the device, but for what ties."""
    left, looks = [], []
    scorer, count = on_device.DeviceScorer, on_device.DeviceCountingPass._count
    pairs = scorer.pairs

    def counted(*args):
        found = count(*args)
        left.append(len(found[1][0]))
        return found

    monkeypatch.setattr(on_device.DeviceCountingPass, "_count", counted)
    monkeypatch.setattr(on_device.DeviceScorer, "pairs", lambda *args: (looks.append(len(args[3])), pairs(*args))[1])
    rows = np.random.default_rng(0).standard_normal((400, 64), dtype=np.float32)
    profiled(rows, np.arange(400) % 40, device="cpu")
    assert sum(looks) > 0
    assert left
    assert sum(left) == 0


@pytest.mark.parametrize(("one", "other"), [(None, "cpu"), ("cpu", None)])
def test_either_path_goes_on_from_the_other_ones_checkpoint(one, other, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "BLOCK_ROWS", 16)

    def interrupt(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="shards are kept"):
        profiled(*DUPLICATES, checkpoint=tmp_path / "kept", device=one, progress=interrupt, threads=1)
    begun = []
    assert len(list((tmp_path / "kept").glob("shard-*"))) > 1
    options = {"checkpoint": tmp_path / "kept", "progress": lambda done, total: begun.append(done / total)}
    assert profiled(*DUPLICATES, device=other, **options) == profiled(*DUPLICATES)
    assert begun[0] > 0.3


# Products that err by more --------------------------------------------------------------------------------------------


def erring_by(device: Device, rows: Any) -> float:
    """The largest error of a product of rows with themselves, as a share of the norms."""
    left = torch.tensor(rows, device=device.where)
    truth = left.double() @ left.double().T
    norms = left.double().norm(dim=1)
    return float((((left @ left.T).double() - truth).abs() / (norms[:, None] * norms)).max())


def shortened(tensor: Any, bits: int, rounded: bool) -> Any:
    """float32 numbers whose significands have lost their last bits, by rounding or by truncation."""
    half = 1 << (bits - 1) if rounded else 0
    return ((tensor.contiguous().view(torch.int32) + half) & ~((1 << bits) - 1)).view(torch.float32)


def imitated(rounded: bool, terms: int = 4) -> Any:
    """A product as a tensor core makes it: TF32 numbers, sums of a few terms cut off at 23 bits of the largest."""

    def product(self: Device, left: Any, right: Any) -> Any:
        if left.dtype != torch.float32:
            return left @ right.T
        left, right = shortened(left, 13, rounded).double(), shortened(right, 13, rounded).double()
        total = torch.zeros(len(left), len(right), dtype=torch.float64, device=left.device)
        for start in range(0, left.shape[1], terms):
            some = left[:, None, start : start + terms] * right[:, start : start + terms]
            addends = torch.cat([total[:, :, None], some], dim=2)
            unit = torch.ldexp(torch.ones_like(total), torch.frexp(addends.abs().amax(dim=2)).exponent - 24)
            total = (addends / unit[:, :, None]).trunc().sum(dim=2) * unit
        return total.float()

    return product


@pytest.mark.parametrize("rounded", [True, False], ids=["rounded", "truncated"])
@invariance.every_kind_and_distance
def test_tf32_imitated(kind, distance, rounded, monkeypatch):
    monkeypatch.setattr(Device, "current_precision", lambda self: TF32)
    monkeypatch.setattr(Device, "product", imitated(rounded))
    for share in (1 / 64, 2.0):
        monkeypatch.setattr(on_device, "MANY_OPEN", share)
        assert same("cpu", *invariance.example(kind, 110), distance=distance)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product"])
def test_tf32_imitated_with_a_bound_for_float32_differs(distance, monkeypatch):
    monkeypatch.setattr(Device, "current_precision", lambda self: IEEE)
    monkeypatch.setattr(Device, "product", imitated(rounded=True))
    monkeypatch.setattr(on_device, "MANY_OPEN", 2.0)  # so that no tile begins in float64
    assert not same("cpu", *DUPLICATES, distance=distance)


@on_every_device
@pytest.mark.parametrize("setting", ["high", "medium"])
@invariance.every_kind_and_distance
def test_shorter_numbers_as_the_device_multiplies_them(kind, distance, setting, device):
    torch.set_float32_matmul_precision(setting)
    assert open_device(device).precision == (TF32 if setting == "high" else BFLOAT16)
    assert same(device, *invariance.example(kind), distance=distance)


@on_every_device
def test_shorter_numbers_with_a_bound_for_float32_differ(device, monkeypatch):
    """Otherwise the test above shows nothing; but not every processor has products of bfloat16."""
    torch.set_float32_matmul_precision("medium")
    if erring_by(open_device(device), DUPLICATES[0]) < 2**-16:
        pytest.skip("this device multiplies float32 as float32, whatever it is allowed")
    monkeypatch.setattr(Device, "current_precision", lambda self: IEEE)
    monkeypatch.setattr(on_device, "MANY_OPEN", 2.0)
    assert not same(device, *DUPLICATES)


@on_every_device
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_integers_that_short_numbers_do_not_hold(distance, device):
    """Exact in one pass of float32, but not of bfloat16: they are multiplied in float64 instead."""
    rng = np.random.default_rng(6)
    torch.set_float32_matmul_precision("medium")
    assert same(device, rng.integers(250, 263, (170, 48)), rng.integers(0, 9, 170), distance=distance)


@pytest.mark.parametrize("precision", [TF32, BFLOAT16], ids=lambda precision: precision.name)
@pytest.mark.parametrize("rounded", [True, False], ids=["rounded", "truncated"])
def test_the_bound_on_short_numbers(precision, rounded):
    """Bits that are all lost: the bound holds, and is not ten times what it has to be."""
    bits = 13 if precision is TF32 else 16
    rows = np.random.default_rng(5).uniform(1.0, 1.0 + 0.49 * 2.0 ** (bits - 23), (40, 64)).astype(np.float32)
    left = torch.tensor(rows)
    cut = shortened(left, bits, rounded).double()
    error = ((cut @ cut.T) - left.double() @ left.double().T).abs()
    norms = left.double().norm(dim=1)
    bound = bounds.gamma(precision.roundings(64), np.float32)
    assert 0.1 * bound < float((error / (norms[:, None] * norms)).max()) < bound


@on_every_device
@pytest.mark.parametrize("setting", ["highest", "high", "medium"])
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
@pytest.mark.parametrize("kind", invariance.KINDS)
def test_scores_err_by_no_more_than_the_bound(kind, distance, setting, device):
    torch.set_float32_matmul_precision(setting)
    found = open_device(device)
    rows, _ = invariance.example(kind)
    for exact_only in (True, False):
        metric = distance_registry.make(distance, rows, None, exact_only)
        metric = metric.having(levels=found.levels(metric))
        scorer, last, queries = on_device.DeviceScorer(found, metric), len(metric.levels) - 1, np.arange(len(rows))
        left = scorer.queries(queries)
        for number, (band, ends) in ((n, b) for n in range(last + 1) for b in enumerate(metric.columns.bands)):
            strip = scorer.strip(layout.ColumnRange(range(*ends), band, -1), np.ones(len(metric.columns), np.int32))
            tile = scorer.tile(number, left, strip).double().cpu().numpy()
            row, place = (index.ravel() for index in np.indices(tile.shape))
            truth = metric.scores.pair_scores(row, place + ends[0]).reshape(tile.shape)
            slack = metric.scores.reach(last, queries, band)[:, :1]
            assert (np.abs(tile - truth) <= metric.scores.reach(number, queries, band)[:, :1] + slack).all()
            if last > 0:
                pairs = scorer.pairs(left, strip, *(torch.tensor(part, device=found.where) for part in (row, place)))
                assert (np.abs(pairs.cpu().numpy() - truth.ravel()) <= 2 * slack[row, 0]).all()


SETTINGS = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + '/engine/counting']
import test_devices as t
rows, found = t.invariance.example(t.invariance.gaussian_with_duplicates)[0], {}
backends = t.torch.backends
for place in ("backends", "backends.mkldnn", "backends.mkldnn.matmul", "backends.cuda.matmul"):
    for value in ("ieee", "tf32", "bf16"):
        if place.startswith("backends.cuda") and value == "bf16":
            continue
        exec(f"{place}.fp32_precision = {value!r}")
        device = t.open_device("cpu")
        found[f"{place} {value}"] = device.precision.name, t.erring_by(device, rows)
        exec(f"{place}.fp32_precision = 'none'")
print(json.dumps(found))
"""


@pytest.mark.slow
def test_every_way_to_set_the_precision_is_seen():
    """In a fresh process, as settings made in the old way and in the new do not mix."""
    if not hasattr(torch.backends, "fp32_precision"):
        pytest.skip("this PyTorch has one way only")
    done = subprocess.run(
        [sys.executable, "-c", SETTINGS, str(Path(__file__).parents[2])], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    names = {"ieee": IEEE, "tf32": TF32, "bf16": BFLOAT16}
    for setting, (name, error) in json.loads(done.stdout).items():
        place, value = setting.split()
        wanted = IEEE if "cuda" in place else names[value]
        assert name == wanted.name, setting
        assert error <= bounds.gamma(wanted.roundings(48) + 58, np.float32), setting


def test_a_precision_that_changes_on_the_way_is_refused():
    def coarsen(done, total):
        torch.set_float32_matmul_precision("medium")

    with pytest.raises(RuntimeError, match=r"must stay as it is while deadheat works.*from float32 to bfloat16"):
        profiled(*DUPLICATES, device="cpu", progress=coarsen, threads=1)


def test_automatic_casts_do_nothing():
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert same("cpu", *DUPLICATES, threads=1)
    finally:
        torch.set_default_dtype(default)


# What comes in --------------------------------------------------------------------------------------------------------


@on_every_device
def test_tensors_as_embeddings_labels_and_junk(device):
    rows, labels = DUPLICATES
    tensor, marks = torch.tensor(rows, device=device, requires_grad=True), torch.tensor(labels, device=device)
    wanted = profiled(rows, labels, junk=labels == 3)
    for given, where in ((tensor, device), (tensor, None), ([tensor[:50], tensor[50:]], None)):
        assert profiled(given, marks, device=where, junk=marks == 3) == wanted
    short, bits = tensor.bfloat16(), tensor > 0
    assert profiled(short, marks) == profiled(short.detach().float().cpu().numpy(), labels)
    found = profiled(bits, marks, bits, marks, distance="hamming", device=device)
    assert found == profiled(rows > 0, labels, rows > 0, labels, distance="hamming")


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), torch.device("cpu", 0)], ids=repr)
def test_names_of_devices(device):
    rows, labels = invariance.example(invariance.small_integers)
    assert dh.evaluate(rows, labels, device=device).to_json() == dh.evaluate(rows, labels).to_json()


@pytest.mark.parametrize(
    ("device", "error", "message"),
    [
        ("gpu", ValueError, "device must be cpu or cuda (or cuda:1 ...), but is 'gpu'"),
        (torch.device("meta"), ValueError, "device must be cpu or cuda (or cuda:1 ...), but is 'meta'"),
        ("cuda:99", ValueError, "device must be one that PyTorch can use, but is 'cuda:99', and "),
        (0, TypeError, "device must be None, a string or a torch.device, but is 0"),
    ],
    ids=str,
)
def test_wrong_devices(device, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}[^\n]*$"):
        dh.evaluate([[0.0], [1.0]], [0, 0], device=device)


def test_arithmetic_that_the_environment_changes_is_refused(monkeypatch):
    for value in ("STRICT", "ANY"):
        monkeypatch.setenv("ONEDNN_DEFAULT_FPMATH_MODE", value)
        if value == "STRICT":
            open_device("cpu")
    with pytest.raises(ValueError, match=r"^device 'cpu' must have products whose error is known, but the environment"):
        open_device("cpu")


def test_the_command(tmp_path: Path):
    np.savez(tmp_path / "data.npz", embeddings=DUPLICATES[0], labels=DUPLICATES[1])
    arguments = ["evaluate", str(tmp_path / "data.npz"), "--json", "-"]
    plain, other = (CliRunner().invoke(main, [*arguments, *more]) for more in ([], ["--device", "cpu"]))
    assert (plain.exit_code, other.exit_code) == (0, 0)
    assert json.loads(plain.stdout) == json.loads(other.stdout)


@pytest.mark.parametrize("distance", distance_registry.names(takes="numbers"))
def test_a_processor_that_takes_tiny_numbers_for_zero_changes_nothing(distance):
    """Here and not in test_invariance because it is PyTorch that has the switch."""
    rng = np.random.default_rng(2)
    rows, labels = rng.integers(-2, 3, (60, 5)), rng.integers(0, 5, 60)
    rows[:4] = 0
    wanted = profiled(rows, labels, distance=distance, threads=1)
    assert torch.set_flush_denormal(True)
    try:
        assert profiled(rows, labels, distance=distance, threads=1) == wanted
        assert profiled(rows, labels, distance=distance, threads=1, device="cpu") == wanted
    finally:
        torch.set_flush_denormal(False)
