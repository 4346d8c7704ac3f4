"""Files with changed, missing and added bytes: each is read or refused in one line, whatever its reader says of it."""

from __future__ import annotations

import gzip
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs.written import SAVE, refusal

import deadheat as dh
from deadheat.errors import DeadheatError, FileError
from deadheat.inputs import trec
from deadheat.inputs.formats import columns, registry
from deadheat.inputs.samples import open_samples

TIMES = 60  # for each kind of file
ROWS = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
WORDS, NUMBERS = np.array(["café", "b", "cc", "日本"] * 10), np.arange(40) % 5

Make = Callable[[Path], object]


RUN = "".join(f"q{i % 3} Q0 d{i} 1 {i / 7} t\n" for i in range(30)).encode()


def write(kind: str, path: Path) -> None:
    SAVE[kind][1](path, ROWS, NUMBERS if kind == "safetensors" else WORDS)  # which has no text


FILES: dict[str, Make] = {
    "rows.npy": lambda path: np.save(path, ROWS),
    "labels.npy": lambda path: np.save(path, WORDS),
    "labels.txt": lambda path: path.write_text("\n".join(WORDS)),
    "a.run": lambda path: path.write_bytes(RUN),
    "zipped.run": lambda path: path.write_bytes(gzip.compress(RUN)),
    "a.qrels": lambda path: path.write_bytes(re.sub(rb"Q0 (d\d+) 1 .*", rb"0 \1 1", RUN)),
    "receipt.json": lambda path: dh.receipt(dh.Task(ROWS, NUMBERS), measures="mAP").save(path),
    "profile.npz": lambda path: dh.evaluate(ROWS, NUMBERS).profile.save(path),
}
for kind in sorted(SAVE.keys() - {"hdf5, user block"}):
    FILES[f"{kind}{SAVE[kind][0]}"] = partial(write, kind)


def use(path: Path, whole: Path) -> None:
    """Read everything that there is in a file; `whole` has rows in good order."""
    if path.suffix == ".run":
        trec.open_run(path)
    elif path.suffix == ".qrels":
        trec.open_qrels(path)
    elif path.suffix == ".json":
        dh.Receipt.load(path)
    elif path.name == "profile.npz":
        dh.TieProfile.load(path)
    elif path.name.startswith("labels"):
        dh.read(whole, path)
    else:
        labels = NUMBERS if path.name == "rows.npy" else None
        open_samples(path, labels).embeddings.whole()


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The bytes cut off, with some more, without some, or with some changed, mostly near either end."""
    n, way = len(content), draw.randrange(6)
    if way == 0:
        return content[: draw.randrange(n)]
    if way == 1:
        return content + draw.randbytes(draw.randrange(1, 40))
    index = draw.choice([draw.randrange(min(n, 200)), n - 1 - draw.randrange(min(n, 1200)), draw.randrange(n)])
    if way == 2:
        return content[:index] + content[index + draw.randrange(1, 32) :]
    return content[:index] + draw.randbytes(draw.choice([1, 1, 1, 4])) + content[index + 1 :]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path, whole, draw = tmp_path / name, tmp_path / "whole.npy", random.Random(name)
    np.save(whole, ROWS)
    FILES[name](path)
    use(path, whole)
    parts = [part for part in path.rglob("*") if part.is_file()] or [path]
    contents, refusals = {part: part.read_bytes() for part in parts}, []
    for _ in range(TIMES):
        part = draw.choice(parts)
        part.write_bytes(damaged(contents[part], draw))
        try:
            use(path, whole)
        except DeadheatError as error:  # and nothing else
            refusals.append(str(error))
        part.write_bytes(contents[part])
    assert len(refusals) > TIMES // 5
    for said in refusals:
        assert said.isprintable()
        assert len(said) < 600 + len(str(path))
        assert not re.search(r" at 0x|allow_pickle|max_header_size", said)


def test_what_no_format_foresees_is_one_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    write("parquet", path)

    def break_off(*_: Any, **__: Any) -> Any:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    said = "a.parquet cannot be read as Parquet; truncated or damaged? 'utf-8' codec"
    for function in ("_labels", "_column"):
        with monkeypatch.context() as patched:
            patched.setattr(columns, function, break_off)
            assert said in refusal(FileError, dh.read, path)
    pieces = registry._guarded(iter(map(break_off, [1])), str(path), "Parquet")
    assert said in refusal(FileError, list, pieces)


def header(text: bytes, version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version == b"\1\0" else 4, "little") + text


HOSTILE = {
    "long": header(b"{" + b"'x': 1, " * 4000 + b"}", b"\2\0"),
    "quoted": header(b"{'descr': '" + 6000 * b"A" + b"', 'fortran_order': False, 'shape': (2, 2), }"),
    "escape": header(b"{'descr': '\x1b[2J\x1b[Hmatch', 'fortran_order': False, 'shape': (2, 2), }"),
    "a call": header(b"{'descr': f(lambda: 0), 'fortran_order': False, 'shape': (2, 2), }"),
    "nested": header(b"(" * 5000),
    "keys": header(b"{'" + 6000 * b"k" + b"': 1}"),
    "shape": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': 'AAAA" + 5000 * b"A" + b"', }"),
    "third": header(b"{'descr': [('" + 900 * b"A" + b"', '<f4')], 'fortran_order': False, 'shape': (2,), }", b"\3\0"),
    "objects": header(b"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }") + b"\x80\x04.",
    "a pickle": b"\x80\x04\x95\0\0\0\0",
}
SAID = {"objects": "holds Python objects, which are pickled and never loaded"}
for shape in ((2**62 - 1, 8), (2**40, 3), (3, 3), (-1, 3), (2, -3), (0, 2**63), (2**64, 2)):
    says = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    HOSTILE[str(shape)] = header(says.encode()) + bytes(48)
    is_shape = min(shape) > 0 and max(shape) < 2**62
    SAID[str(shape)] = f"its shape {shape} {'needs ' if is_shape else 'is none that an array can have'}"


@pytest.mark.parametrize("ending", [".npy", ".npz"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_header_is_not_repeated(kind: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    if ending == ".npy":
        path.write_bytes(HOSTILE[kind])
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("embeddings.npy", "labels.npy"):
                archive.writestr(name, HOSTILE[kind])
    for labels in (NUMBERS, path):
        said = refusal(FileError, dh.evaluate, path, labels).removeprefix(str(path))
        assert said.isprintable()
        assert len(said) < 250
        assert not re.search(r"AAAA|kkkk|0x|allow_pickle|max_header_size|x1b", said)
        assert SAID.get(kind, "") in said


@pytest.mark.parametrize("name", ["rows.npy", "labels.npy", "npz.npz"])
def test_two_files_in_one_are_refused(name: str, tmp_path: Path) -> None:
    """As `cat a.npy b.npy` and two calls of `numpy.save` make them: the second was ignored."""
    path, whole = tmp_path / name, tmp_path / "whole.npy"
    np.save(whole, ROWS)
    if path.suffix == ".npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("embeddings.npy", 2 * whole.read_bytes())
            archive.writestr("labels.npy", b"")
    else:
        FILES[name](path)
        path.write_bytes(2 * path.read_bytes())
    assert "goes on after its array; several files in one" in refusal(FileError, use, path, whole)


def test_a_damaged_footer_does_not_end_the_process(tmp_path: Path) -> None:
    """A column that the schema calls required, and the statistics optional: pyarrow throws where nothing catches."""
    path = tmp_path / "a.parquet"
    write("parquet", path)
    content = path.read_bytes()
    position = content.index(b"\x25\x02\x18\x05label")  # whether it may be missing, before its name
    path.write_bytes(content[: position + 1] + b"\x5b" + content[position + 2 :])
    program = "import sys, deadheat; deadheat.read(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"FileError: {path} cannot be read" in done.stderr.splitlines()[-1]
