"""Pictures of words, and a small network that learns words from them, with a cache of its embeddings.

Input: a number of words, fonts and a seed. Output: grey images (n, height, width) uint8, bright ink on dark, and the
word of each. A picture depends only on its word, its number, the seed and the fonts: more words or more pictures of a
word leave the others unchanged. Other fonts, or another version of FreeType, give other pictures.

Embeddings are (n, dim) float32. The network is trained as a classifier of its training words: the logits are cosines
between the embedding and one learned vector per word (normalised softmax). Dropout, if any, comes right before the
embedding layer, and is off when pictures are embedded. PyTorch is imported only for training.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib import font_manager
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.formats import numpy_files
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.lazy import require

if TYPE_CHECKING:
    from PIL.Image import Image

_CONSONANTS, _VOWELS = "bdfghklmnprstvz", "aeiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NOT_FOR_TEXT = ("math", "symbol", "dingbat", "emoji", "display", "stixsiz", "stixnonuni", "cmex", "cmmi", "cmsy")
_POINTS = 40  # font size of a word before it is fitted into the picture
_FINE = 2  # pictures are drawn this many times larger, then averaged: smooth edges
_SEEN = 16  # side of the square in which letters are compared

Grey = NDArray[np.uint8]
_AT_ONCE = 512  # pictures embedded in one go
_CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()  # of this module, as it was imported

Float32 = NDArray[np.float32]


class Pictures(NamedTuple):
    images: Grey  # (n, height, width)
    words: NDArray[np.str_]  # (n,)


@dataclass(frozen=True)
class Distortion:
    """Amounts by which a picture is distorted; every amount is uniform between its bounds."""

    height: int = 24  # of a picture, in pixels
    width: int = 64
    fill: tuple[float, float] = (0.75, 0.98)  # share of the width (or of the height, if that is less) that a word fills
    stretch: tuple[float, float] = (0.85, 1.2)  # height of the letters against their width
    slant: float = 0.25  # largest shear, either way
    turn: float = 4.0  # largest rotation, either way, in degrees
    stroke: int = 1  # largest weight added to the letters before they are fitted
    blur: float = 0.7  # largest radius of a Gaussian blur, in pixels
    noise: float = 25.0  # largest standard deviation of the noise of a pixel, in grey levels of 255
    ink: float = 0.6  # lowest brightness of the letters, as a share of white


def pseudo_words(n: int, seed: int = 0) -> list[str]:
    """Distinct meaningless words: alternating consonants and vowels, four to six letters.

    The first `m` of them are the same for every ``n >= m``.

    Examples
    --------
    >>> pseudo_words(3, seed=1) == pseudo_words(5, seed=1)[:3]
    True
    """
    random = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < n:
        kinds = [(_CONSONANTS, _VOWELS)[at % 2] for at in range(random.integers(4, 7))]
        words["".join(letters[random.integers(len(letters))] for letters in kinds)] = None
    return list(words)


def find_fonts(most: int = 40) -> list[str]:
    """Paths of fonts that draw Latin letters: those of the system, and those that come with Matplotlib.

    Duplicate fonts (the same family and style) are taken once, fonts for mathematics and symbols are excluded, and of
    more than `most` fonts, an evenly spaced selection in order of name is taken.

    Raises
    ------
    ValueError
        If there is none: then Matplotlib's own folder of data must be missing.
    """
    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    paths = [*sorted(map(str, own.glob("*.ttf"))), *sorted(font_manager.findSystemFonts())]
    named: dict[tuple[str, str], str] = {}
    for path in paths:
        name = _name(path)
        title = f"{name[0]} {Path(path).stem}".lower() if name else ""
        if name and name not in named and not any(word in title for word in _NOT_FOR_TEXT) and draws_latin(path):
            named[name] = path
    if not named:
        raise FileError(own, ": no font that draws Latin letters was found, not even among those of Matplotlib")
    fonts = [named[name] for name in sorted(named)]
    return [fonts[at * len(fonts) // most] for at in range(most)] if len(fonts) > most else fonts


def draws_latin(path: str) -> bool:
    """Return whether over a quarter of the letters from a to z match themselves best in DejaVu Sans or DejaVu Serif.

    This excludes fonts of other scripts and of symbols, whatever they draw for the letters.
    """
    try:
        seen = _letters(path)
    except OSError:
        return False
    right = np.zeros(len(_LETTERS), dtype=bool)
    for name in ("DejaVuSans.ttf", "DejaVuSerif.ttf"):
        plain = _letters(os.path.join(matplotlib.get_data_path(), "fonts", "ttf", name))
        right |= (seen @ plain.T).argmax(axis=1) == np.arange(len(_LETTERS))
    return bool(right.mean() > 0.25)


def render(
    words: Sequence[str], fonts: Sequence[str], per_word: int, *, seed: int = 0, distortion: Distortion = Distortion()
) -> Pictures:
    """Draw each word a number of times, in different fonts if they exist enough, one after the other."""
    images = [draw(word, fonts, copy, seed=seed, distortion=distortion) for word in words for copy in range(per_word)]
    return Pictures(np.stack(images), np.repeat(np.array(words, dtype=np.str_), per_word))


def draw(word: str, fonts: Sequence[str], copy: int, *, seed: int, distortion: Distortion) -> Grey:
    """One picture (height, width) of a word; `copy` is its number among the pictures of this word."""
    letters = list(word.encode())
    turns = np.random.default_rng([seed, *letters]).permutation(len(fonts))  # the fonts, in this word's own order
    random = np.random.default_rng([seed, copy, *letters])
    font = fonts[int(turns[copy % len(fonts)])]
    fine = _fit(_ink(word, font, int(random.integers(0, distortion.stroke + 1))), random, distortion)
    blur = _pillow("ImageFilter").GaussianBlur(random.uniform(0, distortion.blur) * _FINE)
    grey = np.asarray(fine.filter(blur).reduce(_FINE), dtype=np.float64) * random.uniform(distortion.ink, 1.0)
    grey += random.normal(size=grey.shape) * random.uniform(0, distortion.noise)
    return np.clip(np.rint(grey), 0, 255).astype(np.uint8)


def _ink(word: str, path: str, stroke: int) -> Image:
    """A word in white on black, cut to its edges."""
    font = _font(path)
    left, top, right, bottom = font.getbbox(word, stroke_width=stroke)
    image: Image = _pillow("Image").new("L", (max(1, round(right - left)), max(1, round(bottom - top))))
    _pillow("ImageDraw").Draw(image).text((-left, -top), word, fill=255, font=font, stroke_width=stroke)
    return image


def _fit(ink: Image, random: np.random.Generator, how: Distortion) -> Image:
    """Rotate, slant and stretch the word, and place it at random, entirely inside the picture."""
    width, height = how.width * _FINE, how.height * _FINE
    angle, slant = np.deg2rad(random.uniform(-how.turn, how.turn)), random.uniform(-how.slant, how.slant)
    stretch, fill = random.uniform(*how.stretch), random.uniform(*how.fill)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    forth = turn @ np.array([[1.0, slant], [0.0, stretch]])
    bound = np.abs(forth) @ (ink.width, ink.height)  # width and height of the box around the distorted word
    scale = fill * min(width / bound[0], height / bound[1])
    free = np.array([width, height]) - scale * bound
    centre = np.array([width, height]) / 2 + free * (random.uniform(size=2) - 0.5)
    back = np.linalg.inv(scale * forth)  # Pillow takes the inverse map
    shift = np.array([ink.width, ink.height]) / 2 - back @ centre
    where = (back[0, 0], back[0, 1], shift[0], back[1, 0], back[1, 1], shift[1])
    pillow = _pillow("Image")
    return ink.transform((width, height), pillow.Transform.AFFINE, where, pillow.Resampling.BICUBIC)


def _letters(path: str) -> NDArray[np.float64]:
    """The letters a to z as unit vectors of pixels, each cropped and scaled to a square; zero for a blank letter.

    The aspect ratio counts too: without it, an l looks like a block.
    """
    rows = []
    for letter in _LETTERS:
        ink = _ink(letter, path, 0)
        square = np.asarray(ink.resize((_SEEN, _SEEN), _pillow("Image").Resampling.BOX), dtype=np.float64).ravel()
        square -= square.mean()
        size = np.linalg.norm(square)
        shape = 0.5 * np.log(ink.width / ink.height)
        rows.append(np.append(square / size if size else square, [np.cos(shape), np.sin(shape)]))
    letters = np.array(rows)
    letters /= np.linalg.norm(letters, axis=1, keepdims=True)
    return letters


def _name(path: str) -> tuple[str, str] | None:
    """Family and style of a font; None if it cannot be opened."""
    try:
        family, style = _font(path).getname()
    except OSError:
        return None
    return (family or Path(path).stem, style or "")


@lru_cache(maxsize=256)
def _font(path: str) -> Any:
    """An open font, with the basic layout, which every build of Pillow has."""
    fonts = _pillow("ImageFont")
    return fonts.truetype(path, _POINTS, layout_engine=fonts.Layout.BASIC)


def _pillow(module: str) -> Any:
    return require(f"PIL.{module}", "reproduce", "drawing words")


# ---------------------------------------------------------------------------------------------------------------------
# the network


@dataclass(frozen=True)
class Recipe:
    dropout: float = 0.0  # share of the features, in [0, 1), dropped before the embedding layer
    seed: int = 0  # of the initial weights, the order of the pictures and the dropout
    epochs: int = 20
    batch: int = 64  # pictures per step; an incomplete last batch of an epoch is dropped
    rate: float = 4e-3  # highest learning rate (Adam, one cycle)
    sharpness: float = 16.0  # factor of the cosines before the softmax
    channels: tuple[int, int, int] = (16, 32, 48)  # of the three convolutional layers, each of which halves the picture
    dim: int = 64  # of the embedding


class Embedded(NamedTuple):
    """Embeddings (n, dim) float32 and words (n,) of the training pictures and of the test pictures."""

    train: Float32
    train_labels: NDArray[np.str_]
    test: Float32
    test_labels: NDArray[np.str_]


def is_installed() -> bool:
    return util.find_spec("torch") is not None


def embedded(
    train: Pictures, test: Pictures, recipe: Recipe, cache: Path, *, threads: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Embedded:  # fmt: skip
    """Embeddings of the training and the test pictures by a network that learned the training pictures.

    Results for the same pictures, recipe, code and version of PyTorch are read from the folder `cache`. The number of
    threads is ignored there, as it changes rounding only. `say` takes a line when a network is trained.
    """
    torch = require("torch", "torch", "training a network")
    pictures, version = [digest(train), digest(test)], str(torch.__version__)
    settings = {"recipe": asdict(recipe), "pictures": pictures, "code": _CODE, "torch": version}

    def make() -> Embedded:
        say(f"training on {len(set(train.words))} words, dropout {recipe.dropout:g}, seed {recipe.seed}")
        first, second = learn(train, [train.images, test.images], recipe, threads)
        return Embedded(first, train.words, second, test.words)

    return kept(cache, f"words-dropout{recipe.dropout:g}", settings, make)


def kept(cache: Path, name: str, settings: dict[str, Any], make: Callable[[], Embedded]) -> Embedded:
    """The result saved under these settings, or else that of `make`, which is then saved.

    A file that is damaged, or has other settings, is replaced.
    """
    key = json.dumps(settings, sort_keys=True)
    path = cache / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"
    try:
        with open(path, "rb") as file, numpy_files.reading(path), np.load(file, allow_pickle=False) as archive:
            if str(archive["settings"]) == key:
                return Embedded(*(archive[name] for name in Embedded._fields))
    except (OSError, ValueError):
        pass  # not there, or damaged
    made = make()
    with replacing(path) as out:
        np.savez(out, settings=np.array(key), **made._asdict())
    return made


def digest(pictures: Pictures) -> str:
    result = hashlib.sha256(json.dumps([pictures.images.shape, pictures.words.tolist()]).encode())
    result.update(pictures.images.tobytes())
    return result.hexdigest()


def learn(pictures: Pictures, to_embed: Sequence[Grey], recipe: Recipe, threads: int | None = None) -> list[Float32]:
    """Train a network on pictures, and embed others with it.

    Reproducible to the bit with the same number of threads, processor and version of PyTorch. PyTorch's global
    generator and number of threads are restored.
    """
    torch = require("torch", "torch", "training a network")
    classes, targets = np.unique(pictures.words, return_inverse=True)
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]), ExitStack() as stack:
        stack.callback(torch.set_num_threads, before)
        torch.set_num_threads(checks.thread_count(threads))
        torch.default_generator.manual_seed(recipe.seed)  # of the CPU only
        network = _build(torch, recipe, pictures.images.shape[1:])
        _train(torch, network, pictures.images, targets, len(classes), recipe)
        network.eval()
        with torch.inference_mode():
            return [_embed(torch, network, images) for images in to_embed]


def _build(torch: Any, recipe: Recipe, shape: tuple[int, ...]) -> Any:
    nn = torch.nn
    first, second, third = recipe.channels
    layers = [nn.Conv2d(1, first, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
    for before, after in ((first, second), (second, third)):
        convolution = nn.Conv2d(before, after, 3, padding=1, bias=False)
        layers += [convolution, nn.MaxPool2d(2), nn.BatchNorm2d(after), nn.ReLU()]
    features = third * (-(-shape[0] // 2) // 4) * (-(-shape[1] // 2) // 4)
    layers += [nn.Flatten(), nn.Dropout(recipe.dropout), nn.Linear(features, recipe.dim)]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


def _train(torch: Any, network: Any, images: Grey, targets: NDArray[np.intp], n_class: int, recipe: Recipe) -> None:
    """Minimise the cross-entropy of the normalised softmax over the training words."""
    normalize = torch.nn.functional.normalize
    words = torch.nn.Parameter(torch.randn(n_class, recipe.dim))
    parameters = [*network.parameters(), words]
    wanted, batch = torch.from_numpy(targets), min(recipe.batch, len(images))
    steps = len(images) // batch
    adam = torch.optim.Adam(parameters, lr=recipe.rate)
    cycle = torch.optim.lr_scheduler.OneCycleLR(adam, recipe.rate, total_steps=recipe.epochs * steps)
    network.train()
    for _ in range(recipe.epochs):
        order = torch.randperm(len(images))
        for chosen in order[: steps * batch].split(batch):
            cosines = normalize(network(_input(torch, images[chosen.numpy()]))) @ normalize(words).T
            loss = torch.nn.functional.cross_entropy(recipe.sharpness * cosines, wanted[chosen])
            adam.zero_grad()
            loss.backward()
            adam.step()
            cycle.step()


def _embed(torch: Any, network: Any, images: Grey) -> Float32:
    parts = [network(_input(torch, images[at : at + _AT_ONCE])) for at in range(0, len(images), _AT_ONCE)]
    return np.ascontiguousarray(torch.cat(parts).numpy(), dtype=np.float32)


def _input(torch: Any, images: Grey) -> Any:
    return (torch.from_numpy(images[:, None]).to(torch.float32) / 255).to(memory_format=torch.channels_last)
