"""The study of dropout: drawing words, the cache of embeddings, the table from files, runs with and without PyTorch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reproduce import dropout
from reproduce import dropout_network as network
from reproduce.dropout import Case, Compared, Sample, Values
from reproduce.dropout_network import Distortion, Embedded, Pictures, Recipe
from reproduce.study import Mark, Setting, reproduce
from reproduce.tests.printed import TINY

FONTS = Path(matplotlib.get_data_path(), "fonts", "ttf")
PLAIN = Distortion(fill=(0.9, 0.9), stretch=(1, 1), slant=0, turn=0, stroke=0, blur=0, noise=0, ink=1)


@pytest.fixture
def fonts():
    return [str(FONTS / f"{name}.ttf") for name in ("DejaVuSans", "DejaVuSerif-Bold", "cmr10", "STIXGeneral")]


@pytest.fixture
def setting(tmp_path):
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
    return Setting(tmp_path / "data", tmp_path / "cache", quick=True, threads=1)


# drawing words -------------------------------------------------------------------------------------------------------


def test_pseudo_words_differ_and_do_not_depend_on_how_many():
    words = network.pseudo_words(500, seed=3)
    assert len(set(words)) == 500
    assert network.pseudo_words(40, seed=3) == words[:40] != network.pseudo_words(40, seed=4)
    assert {len(word) for word in words} == {4, 5, 6}
    assert all((letter in "aeiou") == bool(at % 2) for word in words for at, letter in enumerate(word))


@pytest.mark.parametrize(
    ("names", "letters"),
    [
        ("DejaVuSans DejaVuSansMono-Oblique STIXGeneralItalic cmr10 cmti10", True),
        ("cmsy10 cmex10 STIXSizOneSymReg STIXNonUni DejaVuSansDisplay LastResortHE-Regular broken", False),
    ],
)
def test_fonts_that_draw_letters_and_fonts_that_draw_none(tmp_path, names, letters):
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    for name in names.split():
        folder = tmp_path if name == "broken" else FONTS
        assert network.draws_latin(str(folder / f"{name}.ttf")) is letters, name


def test_fonts_are_found_once_each(monkeypatch, tmp_path):
    copy, broken = tmp_path / "copy.ttf", tmp_path / "broken.ttf"
    copy.write_bytes((FONTS / "DejaVuSans.ttf").read_bytes())
    broken.write_bytes(b"no font")
    monkeypatch.setattr(network.font_manager, "findSystemFonts", lambda: [str(copy), str(broken)])
    result, few = network.find_fonts(), network.find_fonts(most=5)
    names = {Path(path).stem for path in result}
    assert {"DejaVuSans", "DejaVuSerif-Italic", "STIXGeneral", "cmr10"} <= names
    assert not {"copy", "broken", "cmmi10", "cmsy10", "STIXSizOneSymReg", "DejaVuSansDisplay"} & names
    assert len({network._name(path) for path in result}) == len(result)
    assert len(set(few)) == 5
    assert set(few) <= set(result)
    monkeypatch.setattr(network, "draws_latin", lambda path: False)
    with pytest.raises(ValueError, match="no font that draws Latin letters"):
        network.find_fonts()


def test_pictures_are_functions_of_word_number_and_seed(fonts):
    one = network.render(["mila", "tibor"], fonts, 3, seed=1)
    more = network.render(["tibor", "zetob", "mila"], fonts, 5, seed=1)
    assert one.images.shape == (6, 24, 64)
    assert one.images.dtype == np.uint8
    assert one.words.tolist() == ["mila"] * 3 + ["tibor"] * 3
    assert_array_equal(one.images[:3], more.images[10:13])
    assert_array_equal(one.images[3:], more.images[:3])
    assert len({image.tobytes() for image in more.images}) == 15
    assert (network.render(["mila"], fonts, 3, seed=2).images != one.images[:3]).any(axis=(1, 2)).all()


def test_a_word_is_drawn_in_every_font_before_one_comes_again(fonts, monkeypatch):
    drawn, ink = [], network._ink
    monkeypatch.setattr(network, "_ink", lambda word, path, stroke: drawn.append(path) or ink(word, path, stroke))
    network.render(["mila"], fonts, 8)
    assert sorted(drawn[:4]) == sorted(drawn[4:]) == sorted(fonts)


@pytest.mark.parametrize("word", ["mila", "rokufi"])
def test_an_undistorted_word_fills_what_it_should(fonts, word):
    seen = network.draw(word, fonts[:1], 0, seed=0, distortion=PLAIN) > 60
    size = [np.ptp(np.flatnonzero(seen.any(axis=axis))) + 1 for axis in (1, 0)]
    assert abs((np.array(size) / (24, 64)).max() - 0.9) < 0.06


def test_no_distorted_word_leaves_the_picture(fonts):
    far = Distortion(fill=(0.9, 0.95), slant=0.6, turn=15, blur=0, noise=0, ink=1)
    images = network.render(["mila", "vaboki"], fonts, 12, distortion=far).images.astype(float)
    border = images.copy()
    border[:, 1:-1, 1:-1] = 0
    assert (border.sum(axis=(1, 2)) < 0.06 * images.sum(axis=(1, 2))).all()
    assert (images.sum(axis=(1, 2)) > 0).all()


# the cache -----------------------------------------------------------------------------------------------------------


def made(seed: int = 0) -> Embedded:
    random = np.random.default_rng(seed)
    train, test = (random.normal(size=(n, 4)).astype(np.float32) for n in (6, 4))
    return Embedded(train, np.array(list("aabbcc")), test, np.array(list("ddee")))


def never() -> Embedded:
    raise AssertionError("computed again")


def assert_same(one: Embedded, other: Embedded) -> None:
    for left, right in zip(one, other, strict=True):
        assert left.dtype == right.dtype
        assert_array_equal(left, right)


def test_what_is_kept_is_not_computed_again(tmp_path):
    first = network.kept(tmp_path, "words", {"dropout": 0.5, "seed": 1}, made)
    assert_same(network.kept(tmp_path, "words", {"seed": 1, "dropout": 0.5}, never), first)
    assert_same(first, made())
    other = network.kept(tmp_path, "words", {"dropout": 0.2, "seed": 1}, lambda: made(1))
    assert (other.train != first.train).any()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("how", ["bit", "pickle", "other settings", "cut"])
def test_a_damaged_file_is_computed_again_and_replaced(tmp_path, how):
    network.kept(tmp_path, "words", {"seed": 1}, made)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    if how == "bit":
        at = content.index(made().train.tobytes()) + 9
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "pickle":
        np.savez(path, settings=np.array({"a": 1}, dtype=object))
    else:
        np.savez(path, settings=np.array("{}"), **made(1)._asdict())
    assert_same(network.kept(tmp_path, "words", {"seed": 1}, made), made())
    assert_same(network.kept(tmp_path, "words", {"seed": 1}, never), made())


def test_the_digest_is_of_images_and_words():
    images, words = np.arange(48, dtype=np.uint8).reshape(2, 4, 6), np.array(["a", "b"])
    changed = images.copy()
    changed[1, 2, 3] += 1
    own = network.digest(Pictures(images, words))
    others = ((changed, words), (images, np.array(["a", "c"])), (images.reshape(2, 6, 4), words))
    assert len({own, *(network.digest(Pictures(*other)) for other in others)}) == 4
    assert network.digest(Pictures(images.copy(), words.copy())) == own


# files ---------------------------------------------------------------------------------------------------------------


def clusters(seed: int, n_class: int, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_class), 4)
    return (random.normal(size=(n_class, 3))[labels] + deviation * random.normal(size=(len(labels), 3))), labels


def hit_at_1(embeddings: np.ndarray, labels: np.ndarray) -> float:
    """Plain loops, for data without ties."""
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    right = 0
    for query in range(len(unit)):
        cosines = unit @ unit[query]
        cosines[query] = -2
        right += labels[np.argmax(cosines)] == labels[query]
    return right / len(unit)


def save(folder: Path, name: str, seed: int, n_class: int, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    embeddings, labels = clusters(seed, n_class, deviation)
    np.savez(folder / name, embeddings=embeddings, labels=labels)
    return embeddings, labels


def test_files_are_compared(setting):
    folder = setting.data
    train = save(folder, "cars196-train.npz", 0, 30, 0.1)
    test = save(folder, "cars196-test.npz", 1, 20, 0.4)
    (folder / "cars196-test.csv").write_text("not read: there is a .npz")
    outcome = dropout.from_files(setting)
    (table,) = outcome.tables
    assert table.name == "cars196-dropout"
    plain, grouped = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (plain["train classes"], plain["test classes"], plain["dropout"]) == (30, 20, None)
    assert (plain["train"], plain["test"]) == (hit_at_1(*train), hit_at_1(*test))
    assert plain["gap"] == plain["gap at least"] == plain["gap at most"] == plain["train"] - plain["test"]
    for row in (plain, grouped):
        assert row["95 % from"] < row["gap"] < row["to"]
        assert row["bound"] == max(abs(row["95 % from"]), abs(row["to"]))
    assert grouped["train"] > plain["train"]  # fewer classes to confuse
    assert [finding.mark for finding in outcome.findings] == [Mark.OTHER_DATA, *[Mark.NO_DATA] * 4]
    assert f"plain {100 * plain['gap']:.1f} (" in outcome.findings[0].here
    assert len(outcome.pictures) == 1


def test_grouped_values_of_files_are_means_over_groups(setting):
    """With exactly ten classes there is one group, which is the whole set."""
    whole = save(setting.data, "sop-train.npz", 0, 10, 0.3)
    save(setting.data, "sop-test.npz", 1, 20, 0.3)
    outcome = dropout.from_files(setting)
    grouped = dict(zip(outcome.tables[0].columns, outcome.tables[0].rows[1], strict=True))
    assert grouped["train"] == pytest.approx(hit_at_1(*whole), abs=1e-15)
    assert np.isnan(grouped["bound"])
    assert "no interval" in next(finding for finding in outcome.findings if finding.here).here


def test_files_of_several_dropouts(setting):
    folder = setting.data
    for amount in ("0.5", "0"):
        save(folder, f"cub200-dropout{amount}-train.npz", 0, 20, 0.1)
        save(folder, f"cub200-dropout{amount}-test.npz", 1, 20, 0.2 + float(amount))
    save(folder, "cub200-dropout0.8-train.npz", 0, 20, 0.1)
    rows = [",".join(map(str, [label, *row])) for row, label in zip(*clusters(2, 20, 0.3), strict=True)]
    for part in ("train", "test"):
        (folder / f"cifar100-{part}.csv").write_text("\n".join(["label,x,y,z", *rows]))
    outcome = dropout.from_files(setting)
    cub, cifar = outcome.tables
    assert [row[2] for row in cub.rows] == [0.0, 0.0, 0.5, 0.5]
    assert cub.rows[0][6] > cub.rows[2][6]
    assert [row[7] for row in cifar.rows] == [0.0, 0.0]
    lacking = next(finding for finding in outcome.findings if "0.8" in finding.what)
    assert lacking.mark is Mark.NO_DATA
    assert "cub200-dropout0.8-test.npz" in lacking.why


@pytest.mark.parametrize(
    ("stem", "n_class", "message"),
    [
        ("cars196-dropout0..5", 20, r"a file's dropout must be a number such as 0\.5, but is '0\.\.5'"),
        ("cub200", 5, r"cub200-train\.npz and .*cub200-test\.npz: group_size must be at most"),
    ],
)
def test_files_that_are_no_use_are_named(setting, stem, n_class, message):
    for part in ("train", "test"):
        save(setting.data, f"{stem}-{part}.npz", 0, n_class, 0.1)
    with pytest.raises(ValueError, match=message):
        dropout.from_files(setting)


# findings ------------------------------------------------------------------------------------------------------------


def sides(gap: float, half: float, open_by: float = 0.0) -> Values:
    low, high = gap - half - open_by, gap + half + open_by
    return Values(0.9, 0.9 - gap, gap, low, high, max(abs(low), abs(high)), gap - open_by, gap + open_by)


def test_intervals_that_leave_out_zero_are_counted():
    undefined = Values(0.9, 0.8, 0.1, np.nan, np.nan, np.nan, 0.1, 0.1)
    pairs = [
        (sides(0.2, 0.1), sides(0.0, 0.1)), (sides(-0.2, 0.1), sides(0.3, 0.1, 0.01)), (sides(0.125, 0.125), undefined)
    ]  # fmt: skip
    rows = [Compared(0.5, seed, 20, 40, *pair) for seed, pair in enumerate(pairs)]
    *one, worst, counted, ties = dropout.of_cases([Case("one", "One.", rows[:1]), Case("unseen", "Unseen.", rows)])
    assert len(one) == 2
    assert (one[0].published, one[0].source) == ("plain 8.9; in groups of 10 3.6 points", "arXiv:2306.13357, Table 2")
    assert (worst.here, worst.published) == ("plain 0.5; in groups of 10 0.5", "plain 0.5; in groups of 10 0.7")
    assert one[0].here == "plain 20.0 (10.0 to 30.0); in groups of 10 0.0 (-10.0 to 10.0) points"
    assert counted.here == "plain 2, in groups of 10 1"
    assert "3 networks" in counted.what
    assert ties.here == "1"


def test_subsets_of_words():
    labels = np.repeat([f"w{at}" for at in range(12)], 3)
    sample = Sample(np.random.default_rng(0).normal(size=(36, 5)), labels)
    plain, grouped = dropout.subset_values(sample, 12, 0, 1)
    assert plain == hit_at_1(sample.embeddings, labels)
    assert 0 <= grouped <= 1
    few, inside = dropout.subset_values(sample, 10, 3, 1)
    assert few == pytest.approx(inside, abs=1e-15)  # ten words are one group
    assert dropout.subset_values(sample, 10, 3, 1) == (few, inside)


def test_the_size_figure_is_of_the_first_training(setting, monkeypatch):
    monkeypatch.setattr(dropout, "_network", lambda *given: made())
    monkeypatch.setattr(dropout, "compare", lambda train, test, *, dropout, seed, threads: (seed, dropout))
    monkeypatch.setattr(dropout, "by_size", lambda sets, sizes, n_draw, threads: {})
    cases, sizes = dropout._measure(setting, TINY._replace(dropouts=(0.1, 0.2, 0.5), seeds=2), None)
    trainings = [(seed, amount) for seed in (0, 1) for amount in (0.1, 0.2, 0.5)]
    assert [case.rows for case in cases] == [trainings] * 3
    assert list(sizes) == ["dropout 0.1", "dropout 0.5"]


# runs ----------------------------------------------------------------------------------------------------------------


def test_without_torch_the_page_says_what_to_install(tmp_path, monkeypatch, fonts):
    monkeypatch.setattr(network, "is_installed", lambda: False)
    monkeypatch.setattr(network, "find_fonts", lambda: fonts)
    monkeypatch.setattr(dropout, "QUICK", TINY)
    outcome = reproduce(["dropout"], tmp_path / "out", quick=True, threads=1)["dropout"]
    assert all(finding.mark is Mark.NO_DATA and not finding.here for finding in outcome.findings)
    lacking = [finding for finding in outcome.findings if "deadheat[torch]" in finding.why]
    assert [finding.what for finding in lacking] == ["words: the table of dropouts", "words: the size figure"]
    assert [picture.name for picture in outcome.pictures] == ["words"]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "deadheat[torch]" in page
    assert "In their place, pseudo-words are the classes" in page
    assert (tmp_path / "out" / "dropout" / "words.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def pictures(fonts):
    return network.render(network.pseudo_words(10), fonts, 8, distortion=PLAIN)


SMALL = Recipe(dropout=0.5, epochs=1, batch=16, channels=(4, 4, 4), dim=8)


def test_training_is_seeded_and_leaves_torch_alone(torch, pictures):
    torch.manual_seed(5)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    one = network.learn(pictures, [pictures.images, pictures.images], SMALL, threads=1)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(6)
    again = network.learn(pictures, [pictures.images], SMALL, threads=1)
    assert_array_equal(one[0], again[0])
    assert_array_equal(one[0], one[1])  # dropout is off
    assert (one[0].shape, one[0].dtype) == ((80, 8), np.float32)
    other = network.learn(pictures, [pictures.images], replace(SMALL, seed=1), threads=1)
    assert (other[0] != one[0]).any()
    with pytest.raises(RuntimeError, match="negative dimension"):
        network.learn(pictures, [], replace(SMALL, dim=-1), threads=threads + 1)
    assert torch.get_num_threads() == threads


def test_a_network_learns_its_words(torch, pictures):
    (result,) = network.learn(pictures, [pictures.images], Recipe(epochs=8, batch=16), threads=1)
    assert hit_at_1(result, pictures.words) > 0.9


def test_embeddings_of_a_network_are_kept(torch, tmp_path, pictures, monkeypatch):
    said = []
    first = network.embedded(pictures, pictures, SMALL, tmp_path, threads=1, say=said.append)
    assert said == ["training on 10 words, dropout 0.5, seed 0"]
    assert_array_equal(first.train, network.learn(pictures, [pictures.images], SMALL, threads=1)[0])
    monkeypatch.setattr(network, "learn", lambda *given, **more: never())
    assert_same(network.embedded(pictures, pictures, SMALL, tmp_path, threads=2), first)
    with pytest.raises(AssertionError, match="computed again"):
        network.embedded(pictures, pictures, replace(SMALL, seed=1), tmp_path)
