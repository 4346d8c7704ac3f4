"""Pictures of words: pseudo-words, drawn in the fonts of the system and distorted.

In come a number of words, fonts and a seed; out come grey images (n, height, width) uint8, bright ink on dark, and the
word of each. A picture is a function of its word, its number, the seed and the fonts alone: more words or more pictures
of a word leave the others as they are. Other fonts, or another version of FreeType, draw other pictures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib import font_manager
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.support.extras import require

if TYPE_CHECKING:
    from PIL.Image import Image

_CONSONANTS, _VOWELS = "bdfghklmnprstvz", "aeiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NOT_FOR_TEXT = ("math", "symbol", "dingbat", "emoji", "display", "stixsiz", "stixnonuni", "cmex", "cmmi", "cmsy")
_POINTS = 40  # size that a word is drawn in before it is fitted into the picture
_FINE = 2  # pictures are drawn this many times finer, then averaged: smooth edges
_SEEN = 16  # side of the square that a letter is compared in

Grey = NDArray[np.uint8]


class Pictures(NamedTuple):
    """Images (n, height, width) uint8, and the word (n,) that each shows."""

    images: Grey
    words: NDArray[np.str_]


@dataclass(frozen=True)
class Distortion:
    """How far a picture may be from a plain one; every amount is drawn evenly between its bounds.

    Attributes
    ----------
    height, width : int
        Of a picture, in pixels.
    fill : (low, high)
        Share of the width (or of the height, if that is less) that a word takes.
    stretch : (low, high)
        Height of the letters against their width.
    slant, turn : float
        Largest shear, and largest turn in degrees, either way.
    stroke : int
        Largest weight that is added to the letters, before they are fitted.
    blur : float
        Largest radius of a Gaussian blur, in pixels.
    noise : float
        Largest standard deviation of what is added to each pixel, in grey levels of 255.
    ink : float
        Lowest brightness of the letters, as a share of white.
    """

    height: int = 24
    width: int = 64
    fill: tuple[float, float] = (0.75, 0.98)
    stretch: tuple[float, float] = (0.85, 1.2)
    slant: float = 0.25
    turn: float = 4.0
    stroke: int = 1
    blur: float = 0.7
    noise: float = 25.0
    ink: float = 0.6


def pseudo_words(n: int, seed: int = 0) -> list[str]:
    """Different words that mean nothing: consonant and vowel in turn, four to six letters.

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

    A font that is there twice (the same family and style) is taken once, fonts for mathematics and symbols are left
    out, and of more than `most` fonts, as many are taken evenly from the list in order of name.

    Raises
    ------
    ValueError
        If there is none; Matplotlib brings some, so that its folder of data must be missing.
    """
    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    paths = [*sorted(map(str, own.glob("*.ttf"))), *sorted(font_manager.findSystemFonts())]
    named: dict[tuple[str, str], str] = {}
    for path in paths:
        name = _name(path)
        if name and name not in named and not _is_for_symbols(name, path) and draws_latin(path):
            named[name] = path
    if not named:
        raise FileError(own, ": no font that draws Latin letters was found, not even among those of Matplotlib")
    fonts = [named[name] for name in sorted(named)]
    return [fonts[at * len(fonts) // most] for at in range(most)] if len(fonts) > most else fonts


def draws_latin(path: str) -> bool:
    """Whether a quarter of the letters from a to z look like themselves in DejaVu Sans or DejaVu Serif.

    That is: more like that letter than like any other. Fonts of other scripts and of symbols are told apart so,
    whatever shapes they have at the places of the letters.
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
    words: Sequence[str],
    fonts: Sequence[str],
    per_word: int,
    *,
    seed: int = 0,
    distortion: Distortion | None = None,
) -> Pictures:
    """Draw each word a number of times, as far as can be in a different font each time; those of a word together."""
    how = distortion or Distortion()
    images = np.empty((len(words) * per_word, how.height, how.width), dtype=np.uint8)
    for row in range(len(images)):
        word, copy = words[row // per_word], row % per_word
        images[row] = draw(word, fonts, copy, seed=seed, distortion=how)
    return Pictures(images, np.repeat(np.array(words, dtype=np.str_), per_word))


def draw(word: str, fonts: Sequence[str], copy: int, *, seed: int, distortion: Distortion) -> Grey:
    """One picture (height, width) of a word; `copy` is its number among the pictures of this word."""
    letters = list(word.encode())
    turns = np.random.default_rng([seed, *letters]).permutation(len(fonts))  # the fonts, in this word's own order
    random = np.random.default_rng([seed, copy, *letters])
    font = fonts[int(turns[copy % len(fonts)])]
    ink = _ink(word, font, int(random.integers(0, distortion.stroke + 1)))
    return _spoil(_fit(ink, random, distortion), random, distortion)


def _ink(word: str, path: str, stroke: int) -> Image:
    """A word in white on black, cut to its edges."""
    font = _font(path, _POINTS)
    left, top, right, bottom = font.getbbox(word, stroke_width=stroke)
    image: Image = _pillow("Image").new("L", (max(1, round(right - left)), max(1, round(bottom - top))))
    _pillow("ImageDraw").Draw(image).text((-left, -top), word, fill=255, font=font, stroke_width=stroke)
    return image


def _fit(ink: Image, random: np.random.Generator, how: Distortion) -> Image:
    """The word turned, slanted and stretched, somewhere in the picture; all of it is to be seen."""
    width, height = how.width * _FINE, how.height * _FINE
    angle, slant = np.deg2rad(random.uniform(-how.turn, how.turn)), random.uniform(-how.slant, how.slant)
    stretch, fill = random.uniform(*how.stretch), random.uniform(*how.fill)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    forth = turn @ np.array([[1.0, slant], [0.0, stretch]])
    reach = np.abs(forth) @ (ink.width, ink.height)  # width and height of the box around the distorted word
    scale = fill * min(width / reach[0], height / reach[1])
    free = np.array([width, height]) - scale * reach
    centre = np.array([width, height]) / 2 + free * (random.uniform(size=2) - 0.5)
    back = np.linalg.inv(scale * forth)  # Pillow asks where a pixel comes from
    shift = np.array([ink.width, ink.height]) / 2 - back @ centre
    where = (back[0, 0], back[0, 1], shift[0], back[1, 0], back[1, 1], shift[1])
    pillow = _pillow("Image")
    return ink.transform((width, height), pillow.Transform.AFFINE, where, pillow.Resampling.BICUBIC)


def _spoil(fine: Image, random: np.random.Generator, how: Distortion) -> Grey:
    """The picture in its own size: blurred, fainter, and noisy."""
    blur = _pillow("ImageFilter").GaussianBlur(random.uniform(0, how.blur) * _FINE)
    blurred = fine.filter(blur).reduce(_FINE)
    grey = np.asarray(blurred, dtype=np.float64) * random.uniform(how.ink, 1.0)
    grey += random.normal(size=grey.shape) * random.uniform(0, how.noise)
    return np.clip(np.rint(grey), 0, 255).astype(np.uint8)


def _letters(path: str) -> NDArray[np.float64]:
    """The letters a to z as unit vectors, each cut to its edges and drawn into one square; zero where nothing is seen.

    The shape of the box counts too: without it, an l looks like a block.
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
        family, style = _font(path, _POINTS).getname()
    except OSError:
        return None
    return (family or Path(path).stem, style or "")


def _is_for_symbols(name: tuple[str, str], path: str) -> bool:
    title = f"{name[0]} {Path(path).stem}".lower()
    return any(word in title for word in _NOT_FOR_TEXT)


@lru_cache(maxsize=256)
def _font(path: str, points: int) -> Any:
    """An open font; the plain layout, which does not depend on what Pillow was built with."""
    fonts = _pillow("ImageFont")
    return fonts.truetype(path, points, layout_engine=fonts.Layout.BASIC)


def _pillow(module: str) -> Any:
    return require(f"PIL.{module}", "reproduce", "drawing words")
