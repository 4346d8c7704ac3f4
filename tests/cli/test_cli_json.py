"""The JSON of every command: it fits the schema that is published, which has one shape for measures."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from cli.calling import commands, run

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((files("deadheat.cli") / "schema.json").read_text())
VALIDATORS = {name: jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"}) for name in SCHEMA["$defs"]}
LABELS = np.arange(24) % 6
QUICK = ("-m", "mAP", "--n-resamples", "9")

CALLS: list[tuple[str, tuple[str, ...]]] = [
    ("evaluate", ("a.npz", "--std", "--interval")),
    ("evaluate", ("a.npz", "-m", "mAP", "--ties", "tolerance=1e-3")),
    ("compare", ("a.npz", "b.npz", *QUICK)),
    ("compare", ("a.run", "b.run", "--qrels", "qrels", *QUICK)),
    ("evaluate", ("a.npz", "--by-slice", "types.txt")),
    ("compare", ("a.npz", "b.npz", *QUICK, "--by-slice", "types.txt")),
    ("run", ("qrels", "a.run", "--by-slice", "types.tsv")),
    ("leaderboard", ("a.npz", "b.npz", *QUICK)),
    ("run", ("qrels", "a.run", "--interval", "--n-resamples=9")),
    ("run", ("qrels", "a.run", "b.run", *QUICK)),
    ("audit", ("a.npz", "-m", "mAP")),
    ("audit-collection", ("corpus.npz", "qrels")),
    ("audit-run", ("a.run", "qrels")),
    ("classify", ("items.csv",)),
    ("classify", ("items.csv", "--folds", "2")),
    ("collisions", ("a.npz",)),
    ("confidence", ("a.npz", "--confidence", "sure.txt", "-m", "mAP")),
    ("exploit", ("a.npz", "--draws", "2", "--searches", "1")),
    ("grouped", ("a.npz", "--group-size", "2", "--halves=2", "-m", "mAP,Hit@1")),
    ("grouped", ("a.npz", "--test", "b.npz", "--group-size", "2")),
    ("index-recall", ("truth.h5", "truth.h5", "-k", "2")),
    ("quantization", ("a.npz", "-f", "int8", "-m", "mAP")),
    ("verify", ("receipt.json", "a.npz")),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(-3, 4, (24, 3)).astype("f") for name in "ab"}
    for name, values in rows.items():
        np.savez(f"{name}.npz", embeddings=values, labels=LABELS)
    np.savetxt("sure.txt", rng.random(24))
    np.savez("corpus.npz", embeddings=rows["a"][:2], ids=["d1", "d3"])
    Path("types.txt").write_text("who\nwhen\n" * 12)
    Path("types.tsv").write_text("q1\twho\nq2\twhen\n")
    Path("qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n")
    Path("a.run").write_text("q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.5 x\n")
    Path("b.run").write_text("q1 Q0 d1 1 0.7 x\nq1 Q0 d2 2 0.5 x\nq2 Q0 d1 1 0.5 x\n")
    Path("items.csv").write_text("score,label\n1,1\n.5,0\n.5,1\n.2,0\n")


def written(command: str, args: tuple[str, ...]) -> Any:
    """The JSON that a command prints, after what it needs was made."""
    if command == "verify":
        run("evaluate", "a.npz", "--receipt", "receipt.json", "-m", "mAP")
    if command == "index-recall":
        with pytest.importorskip("h5py").File("truth.h5", "w") as file:
            file["neighbors"], file["distances"] = [[0, 1, 2]], [[0.0, 1.0, 1.0]]
    return json.loads(run(command, *args, "--json=-").stdout)


@pytest.mark.parametrize(("command", "args"), CALLS, ids=str)
def test_json_fits_the_schema(folder: None, command: str, args: tuple[str, ...]) -> None:
    content = written(command, args)
    VALIDATORS[command].validate(content)
    assert list(content)[:2] == ["deadheat", "schema"]
    assert content["schema"] == SCHEMA["$defs"]["output"]["properties"]["schema"]["const"]
    for measures in mappings_of(content, "measures"):
        for value in measures.values():
            assert {"lower", "expected", "upper"} <= value.keys()


def mappings_of(content: Any, name: str) -> list[dict[str, Any]]:
    """Return the values under this key, at any depth."""
    if isinstance(content, list):
        return [found for each in content for found in mappings_of(each, name)]
    if not isinstance(content, dict):
        return []
    own = [content[name]] if name in content else []
    return own + mappings_of(list(content.values()), name)


def test_every_command_that_writes_json_has_a_schema_and_a_call() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    writing = {
        name
        for name, command in commands()
        if any("--json" in param.opts for param in command.params if isinstance(param, click.Option))
    }
    assert writing == {command for command, _ in CALLS}
    assert writing <= SCHEMA["$defs"].keys()


def test_the_schema_refuses_what_lacks_a_part(folder: None) -> None:
    content = written("evaluate", ("a.npz", "-m", "mAP"))
    for path in (["deadheat"], ["schema"], ["measures"], ["measures", "mAP", "lower"], ["profile"]):
        broken = copy.deepcopy(content)
        index = broken
        for key in path[:-1]:
            index = index[key]
        del index[path[-1]]
        with pytest.raises(jsonschema.ValidationError):
            VALIDATORS["evaluate"].validate(broken)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATORS["evaluate"].validate(content | {"schema": 0})
