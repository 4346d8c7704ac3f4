"""Embeddings and labels from files, and one line for everything that can be wrong with them, also where they lie."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs import written
from numpy.testing import assert_array_equal

from deadheat.errors import FileError, InvalidTypeError, InvalidValueError
from deadheat.inputs import limits
from deadheat.inputs.predictions import read_predictions
from deadheat.inputs.samples import Samples, read
from deadheat.support import scratch

EMBEDDINGS = np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]], dtype=np.float32)
WORDS = np.array(["cat", "dog", "cat"])


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file of text."""

    def write_text(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return write_text


Write = Callable[[str, str], Path]


def check(samples: Samples[np.ndarray], labels: object = WORDS) -> None:
    np.testing.assert_array_equal(samples.embeddings, EMBEDDINGS)
    np.testing.assert_array_equal(samples.labels, labels)


def refusal(*args: object, **options: object) -> str:
    """The message of a ValueError, with the file's name in it."""
    said = written.refusal(ValueError, read, *args, **options)
    assert Path(str(args[0])).name.split(".")[0] in said
    return said


# NumPy files


@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_pickles_are_never_loaded(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(pickle.dumps({"embeddings": EMBEDDINGS}))
    np.save(tmp_path / "labels.npy", WORDS)
    assert "pickles are never loaded" in refusal(path, tmp_path / "labels.npy")
    np.savez(tmp_path / "objects.npz", embeddings=EMBEDDINGS, labels=WORDS.astype(object))
    said = "array 'labels' holds Python objects, which are pickled and never loaded"
    assert said in refusal(tmp_path / "objects.npz")


def test_npz_and_npy_take_each_other_for_what_they_are(tmp_path: Path) -> None:
    labels, npy, npz = (tmp_path / name for name in ("labels.npy", "a.npy", "a.npz"))
    np.save(labels, WORDS)
    with npz.open("wb") as one, npy.open("wb") as other:
        np.save(one, EMBEDDINGS)
        np.savez(other, EMBEDDINGS)
    assert refusal(npz).endswith("is not a .npz file, despite its name")
    assert refusal(npy, labels).endswith("is not a .npy file, despite its name")


# tables of text


@pytest.mark.parametrize(
    "text",
    [
        "label,a,b\ncat,.5,1\ndog,2,3\ncat,4,5\n",
        "a,b,class\r\n.5,1,cat\r\n2,3,dog\r\n4,5,cat\r\n",
        "cat,.5,1\ndog,2,3\ncat,4,5",
        "\ufeffname,a,b\ncat,.5,1\n\ndog,2,3\ncat,4,5\n",
        ",a,b,Label\n0,.5,1,cat\n1,2,3,dog\n2,4,5,cat\n",
        'a,b,"label "\n0.5,1.0,"cat"\n 2,3,dog \n" 4 ",5e0, cat\n',
        "0,1,label\n.5,1,cat\n2,3,dog\n4,5,cat\n",
    ],
    ids=["header", "windows", "no header", "mark", "pandas index", "quotes", "numbered"],
)
def test_csv(text: str, write: Write) -> None:
    samples = read(write("a.csv", text))
    check(samples)
    assert samples.embeddings.dtype == np.float64


@pytest.mark.parametrize(("ending", "between"), [(".csv", ","), (".tsv", "\t")])
def test_cells_in_quotes_keep_their_blanks(ending: str, between: str, write: Write) -> None:
    given = ["x", " x ", '"x"', '"x "', '" x"', '"\tx"', '"a ""b"" "', '" , \t\n "', '""" """', '"x"""', "y\u00a0"]
    meant = ["x", "x", "x", "x ", " x", "\tx", 'a "b" ', " , \t\n ", '" "', 'x"', "y"]
    lines = [f'" {i}.5 "{between}{cell}{between}{i}' for i, cell in enumerate(given)]
    samples = read(write(f"a{ending}", "\n".join(lines)), label_column=1)
    assert samples.labels.tolist() == meant
    np.testing.assert_array_equal(samples.embeddings, [[i + 0.5, i] for i in range(len(meant))])
    assert len(set(samples.labels.tolist())) == 9


@pytest.mark.parametrize("column", ["who", 1, -2, "1"])
def test_csv_label_column(column: str | int, write: Write) -> None:
    path = write("a.csv", "a,who,b\n.5,7,1\n2,8,3\n4,7,5\n")
    samples = read(path, label_column=column)
    check(samples, [7, 8, 7])
    assert samples.labels.dtype == np.int64


def test_csv_header_can_be_said(write: Write) -> None:
    path = write("a.csv", "0,1,who\n.5,1,cat\n2,3,dog\n4,5,cat\n")
    assert "line 1 may be names or data; say which (header=)" in refusal(path)
    assert "line 1 may be names or data" in refusal(write("b.csv", "1,cat\n2,dog\n"))
    check(read(path, header=True))
    assert read(path, header=False).labels.tolist() == ["who", "cat", "dog", "cat"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["7", "8", "7"], [7, 8, 7]),
        (["7", "07", "7"], ["7", "07", "7"]),
        (["7", "7.0", "7"], ["7", "7.0", "7"]),
        (["-1", "0", "9223372036854775807"], [-1, 0, 2**63 - 1]),
        (["1", "2", "9223372036854775808"], ["1", "2", "9223372036854775808"]),
    ],
)
def test_labels_in_text_are_integers_only_if_nothing_is_lost(
    labels: list[str], expected: list[object], write: Write
) -> None:
    path = write("labels.txt", "\n".join(labels))
    result = read(write("a.csv", "f,g\n.5,1\n2,3\n4,5\n"), path).labels
    assert result.tolist() == expected


def test_a_label_column_is_no_embedding_when_labels_come_from_elsewhere(write: Write) -> None:
    path = write("a.csv", "label,a,b\n1,.5,1\n2,2,3\n3,4,5\n")
    check(read(path, write("labels.txt", "cat\r\ndog\r\ncat\r\n")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows of data"),
        ("label,a\n", "has no rows of data"),
        ("label,a\ncat,1\ndog,1,2\n", "line 3: 3 columns, but line 1 has 2"),
        ("label,a\ncat,1\n\ndog,one\n", "line 4, column 'a': the cell is not a number"),
        ("label,a\ncat,1\ndog,\n", "line 3, column 'a': the cell is not a number"),
        ("label,a\ncat,1_000\n", "line 2, column 'a': the cell is not a number"),
        ("label,a\ncat,1\n,2\n", "line 3: the label is empty"),
        ("label,a,a\ncat,1,2\n", "has more than one column called 'a'"),
        ("label\ncat\ndog\n", "has no column of numbers other than the labels"),
        ("a,b\n1,2.5\n3,4\n", "all columns hold numbers and none is called labels, label, class or y; name the column"),
        ("cat,1.5,x\ndog,2,y\n", "line 1, column 2: the cell is not a number"),
        ("label,a\ncat,1\0\n", "line 2: a zero byte; not a text file?"),
        ("label,a\ncaf\udce9,1\n", "line 2: not text in UTF-8"),
        (f'label,a,b\nx,1,"{2**53 + 1} "\ny,1,2\n', "is an integer too large to be exact in float64"),
    ],
)
def test_bad_csv(text: str, message: str, write: Write) -> None:
    assert message in refusal(write("bad.csv", text))


def test_labels_in_a_table_must_not_be_guessed_nor_be_empty(write: Write, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", EMBEDDINGS)
    labels = write("labels.csv", "1.png,cat\n2.png,dog\n3.png,cat\n")
    said = refusal(tmp_path / "a.npy", labels)
    assert said == f"{labels}: either column 0 and column 1 may hold the labels; name one (label_column=)"
    check(read(tmp_path / "a.npy", labels, label_column=1))
    check(read(tmp_path / "a.npy", write("labels.csv", "file,label\n1.png,cat\n2.png,dog\n3.png,cat\n")))
    labels = write("labels.txt", "cat\n\ncat\n")
    assert refusal(tmp_path / "a.npy", labels) == f"{labels}, line 2: the label is empty"


# any file


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.csv", "a.parquet", "a.safetensors", "a.h5"])
def test_what_the_system_says_stays_an_oserror(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("labels.npy", WORDS)
    for path in (name, f"./{name}", tmp_path / name):
        with pytest.raises(FileNotFoundError):
            read(path, "labels.npy")
    Path(name).mkdir()
    with pytest.raises(IsADirectoryError):
        read(f".//{name}", "labels.npy")


ODD = 2**53 + 1  # the first integer that float64 does not hold


def said_of(path: Path, *labels: Path, **options: Any) -> str:
    """Return the message about a file, after its name."""
    message = written.refusal(FileError, read, path, *labels, **options)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_an_archive_that_unpacks_to_far_more_than_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, embeddings=np.zeros((1000, 500)), labels=np.arange(1000) % 7)
    assert read(path).embeddings.shape == (1000, 500)  # as long as it is small
    monkeypatch.setattr(limits, "ORDINARY", limits.ORDINARY._replace(unpacked=3_000_000))
    said = said_of(path)
    assert said.startswith(" array 'embeddings' unpacks from ")
    assert said.endswith(" bytes to 0.004 GB, over 100 for each: save it uncompressed")
    with zipfile.ZipFile(path) as archive:
        assert max(entry.file_size / entry.compress_size for entry in archive.infolist()) > 100


def test_an_archive_of_what_could_be_data_is_left_to_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).integers(0, 3, (300, 200)).astype(np.float64)
    np.savez_compressed(tmp_path / "a.npz", embeddings=rows, labels=np.arange(300) % 7)
    monkeypatch.setattr(scratch, "available_memory", lambda: 1000)
    assert_array_equal(read(tmp_path / "a.npz").embeddings, rows)


def test_nothing_is_unpacked_to_find_an_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = np.array([{}], dtype=object)
    np.savez(tmp_path / "a.npz", rows=np.ones((2, 3)), cube=np.ones((2, 2, 2)), classes=np.array([1, 2]), odd=objects)
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("damaged.npy", b"nonsense")
    loaded: list[str] = []
    whole = np.lib.npyio.NpzFile.__getitem__

    def watched(archive: Any, key: str) -> Any:
        loaded.append(key)
        return whole(archive, key)

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", watched)
    assert read(tmp_path / "a.npz").labels.tolist() == [1, 2]
    assert loaded == ["rows", "classes"]


def test_too_little_memory_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", embeddings=np.ones((2, 3)), labels=[1, 2])

    def fail(*_: object) -> None:
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", fail)
    with pytest.raises(MemoryError, match=r"a\.npz array 'embeddings': Unable to allocate 8 GiB"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("cell", [str(ODD), str(-ODD), f"+{ODD}", "9" * 400, "9" * 5000])
def test_an_integer_in_text_is_never_rounded(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"label,x\na,1\nb,{cell}\n")
    assert said_of(path).startswith(", line 3, column 'x': the cell ")
    assert said_of(path).endswith("is an integer too large to be exact in float64")


def test_numbers_in_text_that_are_exact_or_measured_are_taken(tmp_path: Path) -> None:
    cells = [str(2**53), str(2**60), str(-(2**70)), "9007199254740993.0", "1e300", "0.1"]
    (tmp_path / "a.csv").write_text("label,x\n" + "".join(f"a,{cell}\n" for cell in cells))
    assert read(tmp_path / "a.csv").embeddings.ravel().tolist() == [float(cell) for cell in cells]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('label,x\na,1\n"b,2\nc,3\nd,4\n', 3),
        ('label,x\r\na,1\r\n"b,2\r\nc,3\r\n', 3),
        ('label,x\n"two\nlines",1\n"and\n""two","2\nc,3\n', 5),
        ('label,x\n5"b,2\n"c,3', 3),
        ('"label\n', 1),
    ],
)
def test_an_unclosed_quote_is_named_where_it_opens(write: Write, text: str, line: int) -> None:
    for name, between in (("a.csv", ","), ("a.tsv", "\t")):
        path = write(name, text.replace(",", between))
        assert said_of(path) == f", line {line}: the quote that opens here is not closed"


def test_a_quote_that_swallows_a_large_file_is_named_where_it_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for end in ("", '"\n'):
        path.write_text('label,x\na,1\n"b,' + "2\nc,3\n" * 50_000 + end)
        assert said_of(path).startswith(", line 3: the quote that opens here is not closed")
    path.write_text('label,x\na,1\n"b"c,2\n')
    assert said_of(path) == ", line 3: ',' expected after '\"'"


def test_a_column_is_a_name_or_a_plain_number(write: Write) -> None:
    path = write("a.csv", "label,a\ncat,1\n")
    for column in ("who", 2, -3, "1_0", "٣"):
        assert f"has no column {column!r}: it has 2 columns and has 'label', 'a'" in refusal(path, label_column=column)
    assert said_of(path, label_column="9" * 5000).startswith(" has no column ")
    for odd in (True, 1.0):
        said = f"label_column must be the name of a column, or its place from 0, but is {odd}"
        assert written.refusal(InvalidTypeError, read, path, label_column=odd) == said


def test_predictions_of_a_subset_and_a_split(tmp_path: Path) -> None:
    path, splits = tmp_path / "p.json", {"test": {"q": {"a": 0.5}}, "dev": {"q": {"a": 1.0}}}
    path.write_text(json.dumps({"mteb_model_meta": {}, "en": splits}))
    assert read_predictions(path, split="test") == splits["test"]
    said = "split must be one of those in the file, test, dev, but is not given"
    assert written.refusal(InvalidValueError, read_predictions, path) == said
    said = "subset must be one of those in the file, en, but is 'de'"
    assert written.refusal(InvalidValueError, read_predictions, path, subset="de") == said
