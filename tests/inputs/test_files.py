"""Embeddings and labels from files, and one line for everything that can be wrong with them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from inputs import written

from deadheat.inputs.samples import Samples, read

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


# ---------------------------------------------------------------------------------------------------------------------
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
    np.save(tmp_path / "b.npy", EMBEDDINGS)
    (tmp_path / "b.npy").rename(tmp_path / "a.npz")
    assert refusal(tmp_path / "a.npz").endswith("is not a .npz file, despite its name")
    np.savez(tmp_path / "c.npz", EMBEDDINGS)
    (tmp_path / "c.npz").rename(tmp_path / "c.npy")
    np.save(tmp_path / "labels.npy", WORDS)
    assert refusal(tmp_path / "c.npy", tmp_path / "labels.npy").endswith("is not a .npy file, despite its name")


@pytest.mark.parametrize("ending", ["npy", "npz", "txt", "csv"])
def test_labels_from_a_file_of_their_own(ending: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", EMBEDDINGS)
    labels = tmp_path / f"labels.{ending}"
    if ending == "npy":
        np.save(labels, WORDS[:, None])
    elif ending == "npz":
        np.savez(labels, labels=WORDS)
    else:
        labels.write_text("\n".join(["label"] * (ending == "csv") + WORDS.tolist()) + "\n")
    check(read(tmp_path / "a.npy", labels))


# ---------------------------------------------------------------------------------------------------------------------
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
    assert "line 1: '0,1,who' may be names or data; say which (--header, --no-header)" in refusal(path)
    assert "line 1: '1,cat' may be names or data" in refusal(write("b.csv", "1,cat\n2,dog\n"))
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
    found = read(write("a.csv", "f,g\n.5,1\n2,3\n4,5\n"), path).labels
    assert found.tolist() == expected


def test_a_label_column_is_no_embedding_when_labels_come_from_elsewhere(write: Write) -> None:
    path = write("a.csv", "label,a,b\n1,.5,1\n2,2,3\n3,4,5\n")
    check(read(path, write("labels.txt", "cat\r\ndog\r\ncat\r\n")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows of data"),
        ("label,a\n", "has no rows of data"),
        ("label,a\ncat,1\ndog,1,2\n", "line 3: 3 columns, but line 1 has 2"),
        ("label,a\ncat,1\n\ndog,one\n", "line 4, column 'a': 'one' is not a number"),
        ("label,a\ncat,1\ndog,\n", "line 3, column 'a': '' is not a number"),
        ("label,a\ncat,1_000\n", "line 2, column 'a': '1_000' is not a number"),
        ("label,a\ncat,1\n,2\n", "line 3: the label is empty"),
        ("label,a,a\ncat,1,2\n", "has more than one column called 'a'"),
        ("label\ncat\ndog\n", "has no column of numbers other than the labels"),
        ("a,b\n1,2.5\n3,4\n", "all columns hold numbers and none is called labels, label, class or y; name the column"),
        ("cat,1.5,x\ndog,2,y\n", "line 1, column 2: 'x' is not a number"),
        ('label,a\n"cat,1\n', "line 2: the quote that opens here is not closed"),
        ("label,a\ncat,1\0\n", "line 2: a zero byte; not a text file?"),
        ("label,a\ncaf\udce9,1\n", "line 2: not text in UTF-8"),
        (f'label,a,b\nx,1,"{2**53 + 1} "\ny,1,2\n', "is an integer too large to be exact in float64"),
    ],
)
def test_bad_csv(text: str, message: str, write: Write) -> None:
    assert message in refusal(write("bad.csv", text))


def test_csv_without_the_column_asked_for(write: Write) -> None:
    path = write("a.csv", "label,a\ncat,1\n")
    for column in ("who", 2, -3):
        assert f"has no column {column!r}: it has 2 columns and has 'label', 'a'" in refusal(path, label_column=column)


def test_labels_in_a_table_must_not_be_guessed_nor_be_empty(write: Write, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", EMBEDDINGS)
    labels = write("labels.csv", "1.png,cat\n2.png,dog\n3.png,cat\n")
    said = refusal(tmp_path / "a.npy", labels)
    assert said == f"{labels}: either column 0 and column 1 may hold the labels; name one (--label-column)"
    check(read(tmp_path / "a.npy", labels, label_column=1))
    check(read(tmp_path / "a.npy", write("labels.csv", "file,label\n1.png,cat\n2.png,dog\n3.png,cat\n")))
    labels = write("labels.txt", "cat\n\ncat\n")
    assert refusal(tmp_path / "a.npy", labels) == f"{labels}, line 2: the label is empty"


# ---------------------------------------------------------------------------------------------------------------------
# any file


@pytest.mark.parametrize("ending", ["pkl", "pt", "txt", ""])
def test_other_files_are_refused(ending: str, tmp_path: Path) -> None:
    message = refusal(tmp_path / f"a.{ending}".rstrip("."))
    assert "must be a file of embeddings that ends in one of .npz, .npy, .csv, .tsv, .parquet, .arrow, " in message


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.csv", "a.parquet", "a.arrow", "a.safetensors", "a.h5"])
def test_what_the_system_says_stays_an_oserror(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("labels.npy", WORDS)
    for path in (name, f"./{name}", tmp_path / name):
        with pytest.raises(FileNotFoundError):
            read(path, "labels.npy")
    Path(name).mkdir()
    with pytest.raises(IsADirectoryError):
        read(f".//{name}", "labels.npy")
