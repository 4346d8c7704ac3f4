"""Binary codes in every form: one profile, and one line for what is no code."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import run
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.errors import InvalidTypeError, InvalidValueError, QueryInGalleryWarning
from deadheat.inputs import codes
from deadheat.inputs.samples import open_rows

RNG = np.random.default_rng(7)
BITS = RNG.random((40, 19)) < 0.5
LABELS = RNG.integers(0, 4, 40)
SIGNS = 2 * BITS.astype(np.int8) - 1
TYPES = ["i1", "i2", "i4", "i8", "f2", "f4", "f8", ">f4", ">i8"]


def forms() -> dict[str, Any]:
    """The same codes in each form that has one entry a bit."""
    unsigned = {f"0/1 {kind}": BITS.astype(kind) for kind in (*TYPES, "u2", "u4", "u8")}
    signed = {f"±1 {kind}": SIGNS.astype(kind) for kind in TYPES}
    lists = {"lists": SIGNS.tolist(), "rows": list(SIGNS), "parts": [SIGNS[:3], SIGNS[3:].astype(np.float32)]}
    frame = pytest.importorskip("pandas").DataFrame(SIGNS)
    return {**unsigned, **signed, **lists, "Fortran": np.asfortranarray(SIGNS), "bool": BITS, "frame": frame}


FORMS = forms()
PACKED = np.packbits(BITS, axis=1)
WANTED = dh.Task(BITS, LABELS, distance="hamming")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_codes_has_one_digest(form: str) -> None:
    for given in (FORMS[form], PACKED, list(PACKED)):
        assert dh.Task(given, LABELS, distance="hamming").profile.digest() == WANTED.profile.digest()


def test_zeros_and_ones_in_uint8_are_packed_bits_of_the_same_distances() -> None:
    result = dh.Task(BITS.astype(np.uint8), LABELS, distance="hamming")
    assert result.profile.digest() == WANTED.profile.digest()
    assert codes.n_bits(open_rows(BITS.astype(np.uint8), "embeddings")) == 8 * 19


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int8", "int64", "bool"])
def test_tensors(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(BITS if dtype == "bool" else SIGNS).to(getattr(torch, dtype))
    assert dh.Task(tensor, LABELS, distance="hamming").profile == WANTED.profile


@pytest.mark.parametrize("forms", [*product(("±1 f4", "0/1 i8", "bool"), repeat=2)])
def test_queries_and_gallery_may_differ_in_form(forms: tuple[str, str]) -> None:
    query, gallery = (FORMS[form] for form in forms)
    wanted = dh.Task(BITS[:9], LABELS[:9], BITS[9:], LABELS[9:], distance="hamming").profile
    assert dh.Task(query[:9], LABELS[:9], gallery[9:], LABELS[9:], distance="hamming").profile == wanted
    with pytest.warns(QueryInGalleryWarning, match=r"^40 of 40 queries are in the gallery"):
        dh.Task(query, LABELS, gallery, LABELS, distance="hamming")


@pytest.mark.parametrize("form", ["±1 i1", "±1 f8", "0/1 f4", "0/1 i8"])
def test_files(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "_AT_ONCE", 64)  # three rows
    np.savez(tmp_path / "codes.npz", codes=FORMS[form], labels=LABELS)
    np.save(tmp_path / "codes.npy", FORMS[form])
    assert dh.Task(tmp_path / "codes.npz", distance="hamming").profile == WANTED.profile
    assert dh.Task(tmp_path / "codes.npy", LABELS, distance="hamming").profile == WANTED.profile
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    assert dh.Task(mapped, LABELS, distance="hamming").profile == WANTED.profile
    done = run("evaluate", tmp_path / "codes.npz", "--distance", "hamming", "-m", "mAP")
    assert done.exit_code == 0
    assert dh.evaluate(WANTED, "mAP").to_text().splitlines()[1] in done.stdout


def test_other_questions_take_them_too() -> None:
    returned = {"index": [[0, 1, 2]] * 9}
    one, other = (
        dh.index_recall(returned, given[:9], given[9:], 3, distance="hamming")["index"] for given in (BITS, SIGNS)
    )
    assert one.recall == other.recall
    result = [dh.grouped(dh.Task(given, LABELS, distance="hamming"), group_size=2) for given in (BITS, SIGNS)]
    assert result[0].profile == result[1].profile
    task = dh.Task(SIGNS, LABELS, distance="cosine")
    assert task.replace(distance="hamming").profile == WANTED.profile


def test_words_are_packed_bits_in_any_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = RNG.random((7, 131)) < 0.5
    wanted = np.zeros((7, 24), dtype=np.uint8)
    wanted[:, :17] = np.packbits(bits, axis=1)
    for at_once in (1, 300, 1 << 20):
        monkeypatch.setattr(codes, "_AT_ONCE", at_once)
        for given in (bits, np.packbits(bits, axis=1), np.where(bits, 1.0, -1.0), bits.astype(np.int16)):
            assert_array_equal(codes.words(open_rows(given, "x")), wanted.view("<u8"))


# What is no code ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.sign(RNG.integers(-1, 2, (40, 19))),
         "embeddings must be of two values, -1 and 1 or 0 and 1, for a distance of bits, but holds -1 and 0, as "
         "sign(0) is 0; embeddings > 0 has two values"),
        (np.where(np.eye(40) > 0, 0.25, 1.0),
         "embeddings must be bool, bits packed in uint8, or numbers -1 and 1, or 0 and 1, for a distance of bits, but "
         "holds another number in row 0, column 0; embeddings > 0 has a bit for each sign"),
        (np.full((40, 3), np.nan), "embeddings must be finite, but holds nan in row 0, column 0"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("at_once", [19, 1 << 22])
def test_what_is_no_code_is_refused(
    given: Any, message: str, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_AT_ONCE", at_once)
    with pytest.raises(InvalidValueError) as error:
        dh.Task(given, LABELS, distance="hamming")
    assert str(error.value) == message
    np.save(tmp_path / "codes.npy", given)
    with pytest.raises(InvalidValueError):
        dh.Task(tmp_path / "codes.npy", LABELS, distance="hamming")


def test_the_value_is_named_with_its_row_in_a_later_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "_AT_ONCE", 38)
    given = SIGNS.astype(np.float32)
    given[33, 5] = 3.5
    with pytest.raises(
        InvalidValueError, match=r"^gallery .* but holds another number in row 33, column 5; gallery > 0 has"
    ):
        dh.Task(SIGNS, LABELS, given, LABELS, distance="hamming")


def test_packed_bits_and_an_entry_for_each_bit_do_not_go_together() -> None:
    said = r"must both be packed bits, uint8, or both .* dtypes {} and {}$"
    as_many = np.zeros((40, 19), dtype=np.uint8)  # bytes as the others have bits: of one shape, and not compared
    for one, other in ((SIGNS, PACKED), (BITS, as_many), (as_many, BITS)):
        with pytest.raises(InvalidTypeError, match=said.format(one.dtype, other.dtype)):
            dh.Task(one, LABELS, other, LABELS, distance="hamming")
    for one, other, dims in ((SIGNS, BITS[:, :18], "19 and 18"), (PACKED, PACKED[:, :1], "3 and 1")):
        with pytest.raises(InvalidValueError, match=rf"must have the same dim, but have {dims} columns$"):
            dh.Task(one, LABELS, other, LABELS, distance="hamming")
