"""Receipts: what they say, that they verify where the inputs are the same, and that nothing in them can be changed."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from cli.calling import passed, refused, run

import deadheat as dh
from deadheat.errors import FileError, MissingPackageError
from deadheat.trust.receipts import document
from deadheat.trust.receipts.receipt import Verification, digest_of_labels

LABELS = np.repeat(np.arange(6), [7, 5, 5, 4, 2, 1])  # so that each option makes a difference
EMBEDDINGS = np.random.default_rng(0).integers(-2, 3, (24, 3)).astype(np.float32)
EMBEDDINGS[:, 2] += 0.5
TASK = dh.Task(EMBEDDINGS, LABELS)
MEASURES = ["mAP", "Hit@1", "nDCG@5"]
SCHEMA = json.loads((files("deadheat.trust.receipts") / "receipt-1.schema.json").read_text())


@pytest.fixture
def made() -> dh.Receipt:
    return dh.receipt(TASK, measures=MEASURES)


@pytest.fixture
def folder(tmp_path: Path, made: dh.Receipt) -> Path:
    np.savez(tmp_path / "e.npz", embeddings=EMBEDDINGS, labels=LABELS)
    made.save(tmp_path / "r.json")
    return tmp_path


def test_a_receipt_has_the_numbers_of_the_report_as_decimals_and_bits(made: dh.Receipt) -> None:
    report = dh.evaluate(TASK, MEASURES)
    assert list(made.content["measures"]) == MEASURES
    for name in MEASURES:
        for end in ("lower", "expected", "upper"):
            value, stated = getattr(report[name], end), made.content["measures"][name][end]
            assert (float(stated["decimal"]), float.fromhex(stated["hex"])) == (value, value)
    assert made["mAP"] == (report["mAP"].lower, report["mAP"].expected, report["mAP"].upper)
    assert made.content["profile"] == report.profile.digest()
    assert made.content["ties"] == report.ties._asdict()


@pytest.mark.parametrize(
    ("settings", "means"),
    [
        ({}, {}),
        ({"distance": "euclidean", "ties": "float16"}, {"singletons": "zero"}),
        ({"distance": "inner_product", "ties": dh.Tolerance(0.1)}, {"average": "class"}),
        ({"distance": "cosine", "ties": dh.Rounded("bfloat16", of="distance")}, {}),
    ],
)
def test_receipts_fit_the_schema_and_verify(settings: Any, means: Any, tmp_path: Path) -> None:
    made = dh.receipt(TASK.replace(**settings), measures=MEASURES, **means)
    jsonschema.validate(made.content, SCHEMA)
    made.save(tmp_path / "r.json")
    assert dh.Receipt.load(tmp_path / "r.json") == made
    assert (tmp_path / "r.json").read_text() == json.dumps(made.content, indent=2) + "\n"
    assert dh.verify(tmp_path / "r.json", TASK).matches
    assert not dh.verify(made, dh.Task(EMBEDDINGS[::-1], LABELS)).matches


def test_galleries_junk_and_rows_left_out_belong_to_it() -> None:
    junk, own = np.tile(np.arange(24) == 3, (24, 1)), np.arange(24)
    task = dh.Task(EMBEDDINGS, LABELS, EMBEDDINGS, LABELS, junk=junk, exclude=own)
    made = dh.receipt(task, measures="mAP")
    jsonschema.validate(made.content, SCHEMA)
    assert dh.verify(made, task).matches
    for other in ({"junk": None}, {"junk": junk[0]}, {"exclude": np.roll(own, 1)}):
        assert not dh.verify(made, task.replace(**other)).matches


def test_values_decide_and_not_how_they_are_kept(made: dh.Receipt, folder: Path) -> None:
    np.save(folder / "long.npy", EMBEDDINGS.astype(np.float64))
    np.save(folder / "first.npy", EMBEDDINGS[:7])
    np.save(folder / "rest.npy", np.asfortranarray(EMBEDDINGS[7:].astype(">f8")))
    negative = np.where(EMBEDDINGS == 0, -0.0, EMBEDDINGS)
    for same in (EMBEDDINGS.tolist(), negative, folder / "long.npy", [folder / "first.npy", folder / "rest.npy"]):
        assert dh.verify(made, dh.Task(same, LABELS, threads=2)).matches


def test_the_digests_are_of_the_documented_bytes() -> None:
    rows = hashlib.sha256(b"deadheat.embeddings 1\n2 1\n" + np.array([1.5, 0.0], "<f8").tobytes())
    labels = hashlib.sha256("deadheat.labels 1\n2\ns2 \u00e9\ns1 b\n".encode())
    content = dh.receipt(dh.Task([[1.5], [-0.0]], ["\u00e9", "\u00e9"], distance="euclidean")).content["inputs"]
    assert content["embeddings"] == {"shape": [2, 1], "sha256": rows.hexdigest()}
    assert digest_of_labels(np.array(["\u00e9", "b"])) == labels.hexdigest()
    assert digest_of_labels(np.array([7, -1])) == hashlib.sha256(b"deadheat.labels 1\n2\ni7\ni-1\n").hexdigest()


def positions(content: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The positions of all values in nested dictionaries."""
    if not isinstance(content, dict):
        return [path]
    return [position for name, part in content.items() for position in positions(part, (*path, name))]


def changed(content: dict[str, Any], position: tuple[str, ...]) -> dict[str, Any]:
    """A copy with one value changed as little as may be."""
    name, *rest = position
    if rest:
        return {**content, name: changed(content[name], tuple(rest))}
    value = content[name]
    if isinstance(value, list):
        return {**content, name: [value[0] + 1, *value[1:]] if isinstance(value[0], int) else value[1:]}
    if isinstance(value, int):
        return {**content, name: value + 1}
    options = {"cosine": "euclidean", "exact": "tolerance 0.5", "skip": "zero", "query": "class"}
    *before, digit, after = re.split(r"(\d)(?=\D*$)", value) if value not in options else ("", "0", "")
    return {**content, name: options.get(value, f"{''.join(before)}{(int(digit) + 1) % 10}{after}")}


def test_every_single_change_is_found_even_with_a_new_digest(made: dh.Receipt) -> None:
    about = ("schema", "schema_version", "deadheat", "receipt")
    tried = [position for position in positions(made.content) if position[0] not in about]
    assert len(tried) > 30
    for position in tried:
        forged = changed(dict(made.content), position)
        assert not dh.Receipt(forged).is_whole, position
        del forged["receipt"]
        if position == ("options", "measures"):
            with pytest.raises(FileError, match="measures must be those that options has"):
                dh.verify(dh.Receipt.of(forged), TASK)
        else:
            assert not dh.verify(dh.Receipt.of(forged), TASK).matches, position


def test_a_change_without_a_new_digest_is_said(made: dh.Receipt) -> None:
    forged = dh.Receipt({**made.content, "deadheat": "0.1.0.dev7"})
    verification = dh.verify(forged, TASK)
    assert [difference.name for difference in verification.differences] == ["receipt"]
    assert "made by deadheat 0.1.0.dev7, verified by" in str(verification)
    forged = dh.Receipt.of({**made.content, "queries": {**made.content["queries"], "n_query": 25}})
    assert "queries.n_query: the receipt has 25, found 24\n" in f"{dh.verify(forged, TASK)}\n"


ANEW: list[Any] = [
    None, True, 0, -1, 0.5, "", "x", "1", [], [None], {}, {"x": None}, 10**30, "\x1b[2Jmatch: r.json", "nan\n", 60.0,
]  # fmt: skip


def altered(content: Any) -> Iterator[Any]:
    """Contents with one part of another type or without it, or with a member added, wherever that can be."""
    if isinstance(content, dict):
        yield {**content, "added": None}
        yield {**content, "\x1b[2J\x1b[Hmatch: r.json follows from these inputs": None}
        for name, part in content.items():
            yield {other: each for other, each in content.items() if other != name}
            yield {**{other: each for other, each in content.items() if other != name}, f"{name} ": part}
            yield from ({**content, name: other} for other in altered(part))
    elif isinstance(content, list):
        for i, part in enumerate(content):
            yield from ([*content[:i], other, *content[i + 1 :]] for other in altered(part))
        yield [*content, None]
        yield [*content, [1], 2, 3]
    else:
        yield from (other for other in ANEW if type(other) is not type(content))
        yield from (f"{content}\n", f" {content}") if isinstance(content, str) else (float(content), -1, -content - 1)


def test_a_receipt_has_exactly_its_members_with_their_types(made: dh.Receipt, folder: Path) -> None:
    forgeries = list(altered(dict(made.content)))
    assert len(forgeries) > 500
    for forged in forgeries:
        with pytest.raises(FileError, match=r"^receipt (is not a receipt|has schema_version)") as caught:
            dh.Receipt(forged).require_form()
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300
    for forged in forgeries[:2]:
        dh.Receipt.of(forged).save(folder / "forged.json")
        with pytest.raises(FileError, match=r"forged\.json is not a receipt"):
            dh.Receipt.load(folder / "forged.json")
        with pytest.raises(FileError, match="is not a receipt"):
            dh.verify(dh.Receipt.of(forged), TASK)


@pytest.mark.parametrize("version", ["0.0.9", "0.1", "99.1.0", "9" * 40, "0.1.0\n", "٠.١.٠", "0.1.0+x"])
def test_a_receipt_is_of_a_version_that_is_known(version: str, made: dh.Receipt) -> None:
    with pytest.raises(FileError, match=r"receipt is not a receipt: deadheat( must |: '.*' does not match)"):
        dh.Receipt({**made.content, "deadheat": version}).require_form()


def test_a_receipt_cannot_write_to_the_terminal(made: dh.Receipt, folder: Path) -> None:
    escape = "\x1b[2J\x1b[Hmatch: r.json follows from these inputs\n"
    for forged in ({**made.content, escape: None}, {**made.content, "options": {**made.content["options"], escape: 1}}):
        dh.Receipt.of(forged).save(folder / "r.json")
        said = refused("verify", folder / "r.json", folder / "e.npz")
        assert r"\x1b[2J\x1b[Hmatch" in said.replace("\\u001b", "\\x1b")
    shown = str(Verification(dh.Receipt(made.content, escape), ()))
    assert shown.isprintable()
    options = {**made.content["options"], "measures": [escape]}
    forged = {**made.content, "measures": {escape: made.content["measures"]["mAP"]}, "options": options}
    assert repr(dh.Receipt.of(forged)).isprintable()
    with pytest.raises(FileError) as caught:
        dh.verify(dh.Receipt.of(forged), TASK)
    assert str(caught.value).isprintable()


PAGE = (Path(__file__).parents[3] / "docs/how-to/receipts.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", ["ssh-keygen", "minisign"])
def test_a_signature_by_the_commands_of_the_page(program: str, folder: Path) -> None:
    """Receipts are signed as any file is, and one that is changed or saved anew is not what was signed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    (folder / ".ssh").mkdir()
    key = str(folder / ".ssh/id_ed25519")
    commands = [
        line.replace("~/.ssh/id_ed25519", key).replace("-G", "-G -W")
        for line in re.findall(f"^{program} .*", PAGE, re.M)
    ]
    if program == "ssh-keygen":
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (folder / "signers").write_text(f"organiser {Path(f'{key}.pub').read_text()}")
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
    content = (folder / "r.json").read_text()
    (folder / "r.json").write_text(content.replace("cosine", "euclidean"))
    assert subprocess.run(commands[-1], shell=True, cwd=folder, check=False, capture_output=True).returncode


BAD: list[tuple[dict[str, Any], str]] = [
    ({"schema": "x"}, "is not a receipt: its schema"),
    ({"schema_version": 2}, "has schema_version 2, but this deadheat verifies 1"),
    ({"schema_version": True}, "has schema_version True"),
    ({"options": 7}, "is not a receipt: options: 7 is not of type 'object'"),
    ({"average": None}, "is not a receipt: options.average: None is not one of ['query', 'class']"),
    ({"ties": "tolerance x"}, "options.ties: 'tolerance x' does not match '^(exact|"),
    ({"measures": ["mAP", 5]}, "options.measures[1]: 5 is not of type 'string'"),
    ({"added": 1}, "is not a receipt: Additional properties are not allowed ('added' was unexpected)"),
    ({"ties": "tolerance 1e"}, "cannot be those"),
    ({"measures": ["x"]}, "measures must be those"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_what_is_no_receipt_is_refused_in_one_line(
    change: dict[str, Any], message: str, folder: Path, made: dh.Receipt
) -> None:
    options = made.content["options"]
    change = {"options": {**options, **change}} if change.keys() <= options.keys() else change
    (folder / "r.json").write_text(json.dumps({**made.content, **change}))
    assert message in refused("verify", folder / "r.json", folder / "e.npz")


def test_jsonschema_is_named_where_it_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    document._validator.cache_clear()
    said = r"^reading a receipt needs jsonschema: pip install 'deadheat\[files\]'$"
    with pytest.raises(MissingPackageError, match=said):
        dh.Receipt.load(folder / "r.json")
    assert "reading a receipt needs jsonschema" in refused("verify", folder / "r.json", folder / "e.npz")
    passed("evaluate", folder / "e.npz", "--receipt", folder / "made.json")


LARGE = pytest.param(" " * (16 << 20) + "{}", id="over 16 MB")


@pytest.mark.parametrize("text", [LARGE, "{", "[{}]", '{"schema": NaN}', '{"a": 1, "a": 2}', "[" * 100_000, "\xff"])
def test_what_is_no_json_is_refused(text: str, folder: Path) -> None:
    (folder / "r.json").write_bytes(text.encode("latin-1"))
    said = refused("verify", folder / "r.json", folder / "e.npz")
    assert "is not a receipt" in said
    assert ("over 16 MB" in said) == (len(text) > 16 << 20)


def test_the_command_makes_and_verifies(folder: Path) -> None:
    out = folder / "out.json"
    passed("evaluate", folder / "e.npz", "-m", ",".join(MEASURES), "--receipt", out)
    assert json.loads(out.read_text()) == json.loads((folder / "r.json").read_text())
    assert passed("verify", out, folder / "e.npz") == "match: out.json follows from these inputs\n"
    np.savez(folder / "other.npz", embeddings=EMBEDDINGS + 1, labels=LABELS)
    result = run("verify", out, folder / "other.npz", "--json", "-")
    assert (result.exit_code, json.loads(result.stdout)["matches"]) == (1, False)
    out.write_text(out.read_text().replace("cosine", "euclidean"))
    assert run("verify", out, folder / "e.npz").exit_code == 1


def test_a_receipt_of_the_first_version_still_verifies() -> None:
    """Kept as it was made: of the integers below, on the day when the form was set."""
    kept = Path(__file__).with_name("version-1.json")
    task = dh.Task(np.arange(24).reshape(8, 3) ** 2 % 7, list("aabbcccd"))
    assert dh.verify(kept, task).differences == ()


SEVERAL = np.random.default_rng(1).random((24, 4)) < 0.4


@pytest.mark.parametrize("relevance", [None, "any", "count"])
def test_receipts_of_several_labels_a_row_have_their_relevance(relevance: Any, tmp_path: Path) -> None:
    made = dh.receipt(dh.Task(EMBEDDINGS, SEVERAL, relevance=relevance), measures=MEASURES)
    jsonschema.validate(made.content, SCHEMA)
    assert made.content["options"]["relevance"] == (relevance or "any")
    for same in (SEVERAL.astype(np.float32), SEVERAL.astype(np.int8).tolist()):
        assert dh.verify(made, dh.Task(EMBEDDINGS, np.array(same))).matches
    others = {"labels", "inputs", "profile"}
    for other in (SEVERAL[::-1], SEVERAL[:, ::-1]):
        assert dh.verify(made, dh.Task(EMBEDDINGS, other)).differences[0].name.split(".")[0] in others
    positions = [each.name for each in dh.verify(made, TASK).differences]
    assert "options.relevance" in positions
    np.savez(tmp_path / "e.npz", embeddings=EMBEDDINGS, labels=SEVERAL)
    np.savez(tmp_path / "one.npz", embeddings=EMBEDDINGS, labels=LABELS)
    made.save(tmp_path / "r.json")
    assert run("verify", tmp_path / "r.json", tmp_path / "e.npz").exit_code == 0
    assert run("verify", tmp_path / "r.json", tmp_path / "one.npz").exit_code == 1


def test_the_digest_of_several_labels_is_of_the_documented_bytes() -> None:
    of_sets = hashlib.sha256("deadheat.label_sets 1\n3\n2\ns1 b\ns2 \u00e9\n0\n1\ns1 b\n".encode()).hexdigest()
    of_matrix = hashlib.sha256(b"deadheat.label_sets 1\n3\n2\ni0\ni1\n0\n1\ni0\n").hexdigest()
    rows = [[1.5], [0.0], [2.0]]
    for labels, digest in (([{"\u00e9", "b"}, set(), {"b"}], of_sets), (np.array([[1, 1], [0, 0], [1, 0]]), of_matrix)):
        made = dh.receipt(dh.Task(rows, labels, distance="euclidean"), measures="mAP")
        assert made.content["inputs"]["labels"] == {"shape": [3], "sha256": digest}


def test_equal_receipts_have_one_hash() -> None:
    first, second = (dh.receipt(dh.Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")) for _ in range(2))
    assert {first, second} == {first}
