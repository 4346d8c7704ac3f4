"""Commands that ask one question of a file: the output of Python, pictures, exit statuses, one line for an error."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import passed, reason, refused, run

import deadheat as dh

RNG = np.random.default_rng(0)
POINTS, LABELS = RNG.integers(0, 4, (40, 3)).astype(np.float32), np.arange(40) % 4
SHELF, SHELF_LABELS = RNG.integers(0, 4, (30, 3)).astype(np.float32), np.arange(30) % 4
SURE, TARGET = RNG.integers(0, 9, 40) / 8, RNG.integers(0, 3, 40)
SOUND = np.eye(4, 8)[LABELS] * 3 + np.random.default_rng(1).normal(size=(40, 8))
SETS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "all": (POINTS, LABELS),
    "shelf": (SHELF, SHELF_LABELS),
    "sound": (SOUND, LABELS),
    "warned": (np.concatenate([SOUND[:, :4], np.ones((40, 4))], axis=1), LABELS),
    "zero": (np.zeros((40, 2)), LABELS),
    "alone": (np.eye(12), np.arange(12)),
} | {
    name: (RNG.integers(0, 5, (n, 3)).astype(np.float32), np.arange(n) % n_class)
    for name, n, n_class in (("train", 90, 30), ("test", 60, 20), ("store", 70, 20))
}
SCORES, MARKS = [0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, (rows, labels) in SETS.items():
        more = {"sigma": SURE, "blur": TARGET} if name == "all" else {}
        np.savez(f"{name}.npz", embeddings=rows, labels=labels, **more)
    np.savez("query.npz", embeddings=SOUND[:20], labels=LABELS[:20])
    for n in (20, 40, 41, 60):
        np.save(f"rows{n}.npy", np.arange(n))
    np.save("own.npy", np.where(np.arange(40) < 30, np.arange(40), -1))
    np.save("wide.npy", np.zeros((60, 5)))
    np.save("ids.npy", np.zeros((3, 2), dtype=int))
    np.save("sigma.npy", SURE)
    np.savetxt("sigma.txt", SURE)
    np.savetxt("blur.txt", TARGET, fmt="%d")
    Path("words.txt").write_text("sure\n" * 40)
    Path("short.txt").write_text("1\n")
    with Path("all.csv").open("w", newline="") as file:
        columns = (TARGET, LABELS, POINTS, SURE.tolist())
        rows = ([t, f"class {y}", p[0], p[1], s, p[2]] for t, y, p, s in zip(*columns, strict=True))
        csv.writer(file).writerows([["blur", "label", "a", "b", "sigma", "c"], *rows])
    lines = [f"{score},{mark}" for score, mark in zip(SCORES, MARKS, strict=True)]
    Path("scores.csv").write_text("\n".join(["score,label", *lines, ""]))
    Path("words.tsv").write_text("far\tkind\n1\tyes\n2\tno\n2\tyes\n")
    return tmp_path


def sets(*names: str) -> Any:
    return tuple(array for name in names for array in SETS[name])


def content(*args: object) -> Any:
    """The JSON that a call prints."""
    return json.loads(passed(*args, "--json", "-"))


PICTURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize(
    "line",
    [
        "classify scores.csv --plot a.png",
        "collisions all.npz --plot a.pdf",
        "confidence all.npz --confidence-key sigma --plot a.svg",
        "exploit all.npz --draws 3 --searches 2 --plot a.png",
        "grouped train.npz --test test.npz --group-size 4 -m Hit@1,mAP --plot a.SVG",
        "grouped train.npz --group-size 4 --markdown a.md --latex a.tex --plot a.png",
        "quantization all.npz -f int8,binary --plot a.png",
        "quantization all.npz --dims 1,2 --margin 50 --plot a.png",
    ],
)
def test_a_picture_is_drawn_and_the_same_is_printed(line: str) -> None:
    pytest.importorskip("matplotlib")
    *words, _, out = line.split()
    assert passed(*line.split()) == passed(*words, "--force")
    assert Path(out).read_bytes().startswith(PICTURES[Path(out).suffix.lower()])
    if "a.md" in words:
        assert Path("a.md").read_text().startswith("| measure")
        assert Path("a.tex").read_text().startswith(r"\begin{tabular}")
    if words[0] == "confidence":  # axes for each measure
        passed(*words, "-m", "Hit@1", "--plot", "one.svg")
        assert len(Path("one.svg").read_text()) < len(Path(out).read_text())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("audit nothing.npz", "nothing.npz: No such file or directory"),
        ("audit sound.npz --ties float16", "No such option"),
        ("classify scores.csv --scores nope", "scores.csv has no column 'nope'"),
        ("classify scores.csv --positive 2", "scores.csv: no label is '2' (--positive); there are 2 ('0', '1')"),
        ("classify words.tsv --scores far --labels far",
         "words.tsv: labels must be 0 and 1, but are 2 ('1', '2'); name one as --positive"),
        ("classify scores.csv -m F1", "measure must be one of AP, "),
        ("collisions all.npz --plot a.png --rows 5", "--rows must be A:B, such as 0:650 or 650:, but is 5"),
        ("collisions all.npz --plot a.png --rows 10000:", "--rows must leave a query to draw, but slice"),
        ("collisions all.npz --rows 0:5", "--rows goes with --plot"),
        ("collisions all.npz --distance nope", "--distance must be one of cosine, euclidean, inner_product, cityb"),
        ("collisions all.npz --ties tolerance=1e-3", "ties must have tie groups, but Tolerance(0.001) has none"),
        ("collisions all.npz --ties-of distance", "--ties-of goes with --ties float16"),
        ("collisions all.npz --within 1 --ties float16", "within must be left out unless ties are exact"),
        ("collisions all.npz --digits 3", "No such option"),
        ("collisions all.npz --plot a.gif", "--plot a.gif must end in one of .png, .pdf, .svg"),
        ("collisions all.npz --json a.json --exclude rows40.npy", "exclude must be left out without a gallery"),
        ("collisions all.npz --labels rows41.npy --plot a.png",
         "rows41.npy: labels must have one entry per row of all.npz, but got 41"),
        ("confidence all.npz", "--confidence FILE or --confidence-key NAME must say where the confidences are"),
        ("confidence all.npz --confidence-key tau",
         "all.npz has no array 'tau', only 'embeddings', 'labels', 'sigma', 'blur'"),
        ("confidence all.npz --confidence words.txt",
         "words.txt must hold a number for each query, but entry 0 is no number"),
        ("confidence all.npz --confidence short.txt",
         "confidence must have one entry per query, but short.txt has 1 for 40 queries"),
        ("confidence all.npz --confidence-key sigma --target short.txt",
         "target must have one entry per query, but short.txt has 1 for 40 queries"),
        ("exploit all.npz -m mAPP", "mAPP"),
        ("exploit all.npz --gallery-labels own.npy", "goes with --gallery"),
        ("grouped train.npz --test-labels test.npz", "--test-labels goes with --test"),
        ("grouped train.npz --test test.npz --test-gallery-labels test.npz",
         "--test-gallery-labels goes with --test-gallery"),
        ("grouped train.npz --test wide.npy", "wide.npy holds embeddings only"),
        ("grouped train.npz --test test.npz --test-gallery wide.npy --test-gallery-labels store.npz",
         "store.npz: gallery labels must have one entry per row"),
        ("grouped train.npz --halves 0", "--halves must be at least 1, but is 0"),
        ("grouped train.npz --halves 2 --group-size 16",
         "--group-size must be at most half the number of classes, 30"),
        ("grouped alone.npz --group-size 4", "no query has a relevant item"),
        ("index-recall ids.npy ids.npy --tolerance 1", "ids.npy has no distances; --distances FILE names them"),
        ("quantization all.npz -f int9", "formats must be one of float64, float32"),
        ("quantization all.npz --dims 2,x", "--dims must be positive integers with commas between them, but has 'x'"),
        ("quantization all.npz --dims 99", "--dims must be at most"),
        ("quantization all.npz --margin 101", "--margin must be points of per cent from 0 to 100, but is 101"),
        ("quantization all.npz --threshold 1_0", "threshold must be numbers, or one of mean, median, but is '1_0'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_and_nothing_is_written(folder: Path, line: str, message: str) -> None:
    before = {path: path.stat().st_size for path in folder.iterdir()}
    assert message in reason(*line.split())
    assert {path: path.stat().st_size for path in folder.iterdir()} == before


# The same as in Python -----------------------------------------------------------------------------------------------


def task(*names: str, **settings: Any) -> dh.Task:
    return dh.Task(*sets(*names), **settings)


def confidences() -> dh.confidence.ConfidenceReport:
    report = dh.evaluate(POINTS, LABELS, distance="euclidean", measures=["Hit@1", "MAP@R"])
    return dh.confidence.confidence_report(report, SURE, TARGET)


FEW: dict[str, Any] = {"draws": 3, "searches": 2}
GROUPED = "--group-size 4 --distance euclidean"
QUANTIZED = "-f fp16,int8 -f binary --threshold mean -m MRR --distance l2 --seed 3"
FORMATS: dict[str, Any] = {"formats": ["float16", "int8", "1 bit"], "threshold": "mean", "measures": "MRR", "seed": 3}
SAME: dict[str, Callable[[], Any]] = {
    "classify scores.csv": lambda: dh.classification(SCORES, MARKS),
    "classify scores.csv -m AP,TPR@FPR=0.5": lambda: dh.classification(SCORES, MARKS, measures=["AP", "TPR@FPR=0.5"]),
    "classify words.tsv --scores far --labels kind --positive yes --ascending": lambda: dh.classification(
        [1, 2, 2], [1, 0, 1], order="ascending"
    ),
    "classify words.tsv --scores far --labels kind --ascending": lambda: dh.classification(  # yes is known
        [1, 2, 2], [1, 0, 1], order="ascending"
    ),
    "collisions all.npz": lambda: dh.collisions(task("all")),
    "collisions all.npz --distance L2 --distance euclidean,cityblock": lambda: dh.collisions(
        task("all"), distances=["euclidean", "cityblock"]
    ),
    "collisions all.npz --ties float16 --ties-of distance": lambda: dh.collisions(
        task("all", ties=dh.Rounded("float16", of="distance"))
    ),
    "collisions all.npz --within 0.05": lambda: dh.collisions(task("all"), within=0.05),
    "collisions all.npz --depth 3 --threads 1": lambda: dh.collisions(task("all"), depth=3),
    "collisions all.npz --gallery shelf.npz": lambda: dh.collisions(task("all", "shelf")),
    "confidence all.npz --confidence-key sigma --target-key blur --distance euclidean": confidences,
    "exploit all.npz --draws 3 --searches 2 --distance cityblock -m Hit@1 --seed 3": lambda: dh.exploit(
        task("all", distance="cityblock"), measure="Hit@1", seed=3, **FEW
    ),
    "exploit all.npz --draws 3 --searches 2 --gallery shelf.npz --exclude own.npy --ties float16": lambda: dh.exploit(
        task("all", "shelf", ties="float16", exclude=np.load("own.npy")), **FEW
    ),
    f"grouped train.npz {GROUPED} --seed 3 --draws 2": lambda: dh.grouped(
        task("train", distance="euclidean"), group_size=4, measures="Hit@1", seed=3, draws=2
    ),
    f"grouped test.npz --gallery store.npz {GROUPED} --ties float16 --singletons zero": lambda: dh.grouped(
        task("test", "store", distance="euclidean", ties="float16"), group_size=4, measures="Hit@1", singletons="zero"
    ),
    f"quantization all.npz {QUANTIZED}": lambda: dh.compare_formats(task("all", distance="euclidean"), **FORMATS),
    "quantization all.npz --base int8": lambda: dh.compare_formats(task("all"), base="int8"),
    "quantization all.npz --dims 1,2 --dims 3 --margin 50": lambda: dh.compare_formats(
        task("all"), dims=(1, 2, 3), margin=0.5
    ),
}


@pytest.mark.filterwarnings("ignore::deadheat.errors.QueryInGalleryWarning")
@pytest.mark.parametrize("line", SAME)
def test_a_command_prints_what_python_prints(line: str) -> None:
    result, printed = SAME[line](), content(*line.split())
    level = {"confidence_level": 0.95} if line.startswith("grouped") else {}
    assert passed(*line.split()) == f"{result.to_text(**level)}\n"
    if level:
        assert printed["grouped"] == json.loads(json.dumps(result.to_dict(**level)))
    elif line.startswith("collisions") and hasattr(result, "rule"):
        assert printed["distances"] == {"cosine": {"rule": result.rule, "counts": asdict(result.counts)}}
    else:
        assert printed == json.loads(result.to_json())


# audit ---------------------------------------------------------------------------------------------------------------


def test_audit_prints_and_writes_what_python_prints_and_its_status_is_a_gate() -> None:
    assert passed("audit", "sound.npz") == f"{dh.audit(task('sound'))}\n"
    for name, usual, strict in (("sound", 0, 0), ("warned", 0, 1)):
        assert run("audit", f"{name}.npz", "-m", "mAP").exit_code == usual
        assert run("audit", f"{name}.npz", "-m", "mAP", "--strict").exit_code == strict
    written = run("audit", "zero.npz", "-m", "mAP", "--json", "out.json", "--markdown", "out.md")
    assert written.exit_code == 1
    assert json.loads(Path("out.json").read_text()) == json.loads(dh.audit(task("zero"), measures="mAP").to_json())
    assert Path("out.md").read_text().startswith("**")
    assert "SERIOUS" in written.stdout


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_queries_in_the_gallery_are_a_finding_of_an_audit_and_no_warning() -> None:
    words = ("audit", "query.npz", "--gallery", "sound.npz", "-m", "mAP")
    result = run(*words)
    assert (result.exit_code, result.stderr) == (1, "")
    assert "queries in the gallery" in result.stdout
    assert run(*words, "--exclude", "rows20.npy").exit_code == 0


# classify and confidence ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("{mark} id10270/x.wav  id10300/y.wav\t{score} ", ["--labels", "0", "--scores", "3"]),
        ("{score} {word}", ["--labels", "1", "--scores", "0"]),
        ("  {mark}\t{score}", ["--labels", "0", "--scores", "1"]),
    ],
)
def test_classify_reads_columns_between_blanks(line: str, options: list[str], tmp_path: Path) -> None:
    """Lists of trials, as of VoxCeleb, and lines of a label and a score."""
    marks, scores = [0, 1, 1, 0, 1], [1.5, 4, 1.5, 0.5, 2]
    words = ["nontarget", "target"]
    lines = [line.format(mark=m, word=words[m], score=s) for m, s in zip(marks, scores, strict=True)]
    path = tmp_path / "trials.txt"
    path.write_text("\n".join(lines) + "\n\n")
    assert passed("classify", path, *options) == f"{dh.classification(scores, marks)}\n"
    path.write_text("label score\n" + "\n".join(f"{m} {s}" for m, s in zip(marks, scores, strict=True)))
    assert passed("classify", path) == f"{dh.classification(scores, marks)}\n"


def test_classify_takes_trials_with_scores_or_embeddings(tmp_path: Path) -> None:
    voices = {"a/1": [1, 0], "a/2": [2, 1], "b/1": [0, 3], "c/1": [3, 6]}
    lines, scores = [("a/1", "a/2", 1), ("b/1", "c/1", 0), ("a/1", "c/1", 0), ("a/2", "a/1", 1)], [2, 1, 0.5, 0.25]
    trials, scored, rows = tmp_path / "trials.txt", tmp_path / "scored.txt", tmp_path / "voices.npz"
    trials.write_text("\n".join(f"{a} {b} {'target' if same else 'nontarget'}" for a, b, same in lines))
    scored.write_text("\n".join(f"{same} {a} {b} {s}" for (a, b, same), s in zip(lines, scores, strict=True)))
    np.savez(rows, embeddings=list(voices.values()), names=list(voices))
    assert passed("classify", scored) == f"{dh.classification(scores, [1, 0, 0, 1])}\n"
    asked = ("--embeddings", rows, "--ids", "names", "--distance", "l2", "-m", "EER,minDCF(0.01, 10)")
    expected = dh.pair_classification(voices, lines, distance="l2", measures=["EER", "minDCF(0.01, 10)"])
    assert passed("classify", trials, *asked) == f"{expected}\n"
    assert passed("classify", trials, *asked, "--folds", "2") == f"{expected.folds(2)}\n"
    np.save(tmp_path / "rows.npy", list(voices.values()))
    trials.write_text("1 0 1\n0 2 3\n0 0 3\n1 1 0\n")
    assert passed("classify", trials, *("--embeddings", tmp_path / "rows.npy", *asked[4:])) == f"{expected}\n"
    assert reason("classify", trials, *asked, "--ascending").startswith("--embeddings goes without --scores")
    assert reason("classify", trials, "--templates", "max") == "--templates goes with --embeddings"


def test_classify_names_what_is_no_table_between_blanks(tmp_path: Path) -> None:
    path = tmp_path / "trials.txt"
    for text, said in (
        ("1 0.5\n0\n", ", line 2: 1 columns, but line 1 has 2"),
        ("1 0.5\n0 0.25\n", " has no column 'score': it has 2 columns and has no names of columns: give places from 0"),
        ("label score\n1 0.5\n0 1_0\n", " must hold a number for each item, but entry 1 is no number"),
        ("0 1\n1 2\n", ", line 1 may be names or data; say which (--header/--no-header)"),
    ):
        path.write_text(text)
        assert reason("classify", path) == f"{path}{said}"
    columns = ("--labels", "0", "--scores", "1")
    assert passed("classify", path, *columns, "--no-header") == f"{dh.classification([1, 2], [0, 1])}\n"


def test_labels_are_never_taken_for_confidences() -> None:
    rng = np.random.default_rng(4)
    labels, sure = np.arange(30) % 5, rng.random(30)
    rows = rng.normal(size=(30, 3)) + labels[:, None]
    np.savez("three.npz", embeddings=rows, labels=labels, confidence=sure)
    np.savez("four.npz", embeddings=rows, y=labels, blur=sure, age=sure)
    np.save("sure.npy", sure)
    text = ["a,b,c,label,confidence", *(",".join(map(repr, [*map(float, row), int(y), float(s)]))
                                        for row, y, s in zip(rows, labels, sure, strict=True))]  # fmt: skip
    Path("three.csv").write_text("\n".join(text))
    expected = passed("confidence", "three.npz", "--confidence", "sure.npy")
    assert passed("confidence", "three.npz", "--confidence", "three.npz") == expected
    assert passed("confidence", "three.csv", "--confidence", "three.csv") == expected  # and it is no feature
    assert passed("confidence", "four.npz", "--confidence", "four.npz", "--confidence-key", "age") == expected
    several = "name the confidence (--confidence-key), one of 'embeddings', 'blur', 'age'"
    for command in (["confidence", "four.npz"], ["evaluate", "four.npz", "--html", "page.html"]):
        assert several in refused(*command, "--confidence", "four.npz")
    passed("evaluate", "four.npz", "--html", "page.html", "--confidence", "four.npz", "--confidence-key", "blur")
    assert Path("page.html").exists()


@pytest.mark.parametrize(
    ("file", "where"),
    [
        ("all.csv", "--confidence-key sigma --target-key blur"),  # and no part of the embedding
        ("all.csv", "--confidence-key 4 --target-key 0"),
        ("zero.npz", "--confidence sigma.npy --target blur.txt"),
        ("zero.npz", "--confidence sigma.txt --target all.npz --target-key blur"),
        ("zero.npz", "--confidence all.csv --confidence-key sigma --target blur.txt"),
    ],
)
def test_confidences_are_read_from_any_file(file: str, where: str) -> None:
    np.savez("zero.npz", embeddings=POINTS, labels=LABELS)
    printed = content("confidence", file, *where.split(), "--distance", "euclidean")
    assert printed == json.loads(confidences().to_json())


def test_measures_of_confidences() -> None:
    words = ("confidence", "all.npz", "--confidence-key", "sigma", "-m", "P@3")
    printed = passed(*words, "--digits", 1)
    assert printed.startswith("error by P@3 (%)")
    assert "confidence against Hit@1 (%)" in printed
    assert "Spearman" not in printed
    result = content(*words)
    assert (list(result["curves"]), result["correlation"]) == (["P@3"], None)


# collisions ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_collisions_of_queries_that_are_in_the_gallery() -> None:
    def counts(*args: object) -> Any:
        return content("collisions", "all.npz", *args)["distances"]

    alone = counts()
    assert counts("--gallery", "all.npz", "--exclude", "rows40.npy") == alone
    again = run("collisions", "all.npz", "--gallery", "all.npz", "--json", "-")
    assert again.exit_code == 0
    assert again.stderr.startswith("deadheat: warning: 40 of 40 queries are in the gallery")
    assert json.loads(again.stdout)["distances"] != alone


def test_a_picture_of_each_distance_and_of_some_rows() -> None:
    """A picture is wider for each distance more, and differs with fewer rows."""
    Image = pytest.importorskip("PIL.Image")
    sizes = {}
    for name, *words in (("one",), ("two", "--distance", "cosine,l2"), ("some", "--rows", "1:"), ("few", "--depth", 7)):
        passed("collisions", "all.npz", "--plot", f"{name}.png", *words)
        with Image.open(f"{name}.png") as image:
            sizes[name] = image.size
    assert sizes["two"][0] == 2 * sizes["one"][0]
    assert sizes["some"] == sizes["one"]
    assert len({Path(f"{name}.png").read_bytes() for name in ("one", "some", "few")}) == 3


# grouped -------------------------------------------------------------------------------------------------------------


def test_the_gap_of_two_files() -> None:
    words = ("grouped", "train.npz", "--test", "test.npz", *GROUPED.split())
    both = task("train", distance="euclidean"), task("test", distance="euclidean")
    printed = content(*words, "-m", "Hit@1", "-m", "mAP")
    assert printed.keys() == {"deadheat", "schema", "gap"}
    for measure in ("Hit@1", "mAP"):
        gap = dh.generalization_gap(*both, group_size=4, measure=measure)
        assert printed["gap"]["measures"][measure].items() >= gap.to_dict().items()
    gap = dh.generalization_gap(*both, group_size=4)
    shown = passed(*words).splitlines()
    assert [line.split()[0] for line in shown[8:11]] == ["gap", "in", "plain"]
    assert shown[9].split()[-2:] == [f"{100 * gap.grouped.margin():.2f}", f"{100 * gap.grouped.bound():.2f}"]
    assert shown[10].endswith(f"{100 * gap.plain.bound():.2f}")


def test_the_test_set_has_a_gallery_of_its_own() -> None:
    words = ("grouped", "train.npz", "--test", "test.npz", "--test-gallery", "store.npz", *GROUPED.split())
    train, test = task("train", distance="euclidean"), task("test", "store", distance="euclidean")
    usual = dh.generalization_gap(train, test, group_size=4)
    own = dh.generalization_gap(train, test.replace(exclude=np.arange(60)), group_size=4)
    for gap, more in ((usual, ()), (own, ("--test-exclude", "rows60.npy"))):
        assert content(*words, *more)["gap"]["measures"]["Hit@1"].items() >= gap.to_dict().items()
    assert own.to_dict() != usual.to_dict()


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_messages_about_the_test_set_name_its_options() -> None:
    both = ("grouped", "train.npz", "--test", "test.npz", *GROUPED.split())
    warned = run(*both, "--test-gallery", "test.npz").stderr
    assert warned.startswith("deadheat: warning: 60 of 60 queries are in the gallery")
    assert warned.endswith("leave out --test-gallery, or give --test-exclude, the row of it that each query is\n")
    alone = ("--gallery", "train.npz", "--test-gallery", "store.npz", "--test-exclude", "rows60.npy")
    assert run(*both, *alone).stderr.endswith("or give --exclude, the row of the gallery that each query is\n")
    for option in ("--test-exclude", "--exclude"):
        assert refused(*both, option, "rows60.npy").startswith(f"{option} must be left out without a gallery")


def test_halves_are_those_of_table_1() -> None:
    halves = dh.split_half(task("train", distance="euclidean"), group_size=4, measure="mAP", draws=7, seed=1)
    words = ("grouped", "train.npz", *GROUPED.split(), "-m", "Hit@1,mAP", "--halves", 7, "--seed", 1)
    printed = content(*words)
    assert printed.keys() == {"deadheat", "schema", "grouped", "halves"}
    assert printed["halves"]["measures"]["mAP"].items() >= halves.to_dict().items()
    assert halves.tables()[0].to_text() in passed(*words)
    both = content("grouped", "train.npz", "--test", "test.npz", *GROUPED.split(), "--halves", 3)
    assert both.keys() == {"deadheat", "schema", "gap", "halves"}


def test_a_test_is_checked_before_the_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.engine.task.count", lambda *_, **__: pytest.fail("the work has begun"))
    message = refused("quantization", "all.npz", "--confidence-level", "95")
    assert message == "--confidence-level must lie strictly between 0 and 1, but is 95.0"
