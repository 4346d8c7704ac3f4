"""The words of the stand-in: pictures to learn and never to learn, and a sheet that shows some of them.

In come a setting and how much to compute; out go pictures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from deadheat.plots import style
from deadheat.studies.dropout import rendered
from deadheat.studies.dropout.extent import Extent
from deadheat.studies.dropout.rendered import Pictures
from deadheat.studies.study import Setting

_SEED = 5


class Words(NamedTuple):
    """Pictures of words: to learn, and never learned, of which the first few and the others are two sets."""

    learned: Pictures
    unseen: Pictures
    fonts: list[str]


def render(setting: Setting, extent: Extent) -> Words:
    """As many words to learn as `many`, and other words: `few`, then `many` again."""
    fonts = rendered.find_fonts()
    setting.say(f"  drawing {2 * extent.many + extent.few} words in {len(fonts)} fonts")
    words = rendered.pseudo_words(2 * extent.many + extent.few, _SEED)
    learned, unseen = words[: extent.many], words[extent.many :]
    first, second = (rendered.render(part, fonts, extent.per_word, seed=_SEED) for part in (learned, unseen))
    return Words(first, second, fonts)


def contact_sheet(words: Words, n_word: int = 6, n_font: int = 4) -> Figure:
    """Words in a few fonts without distortion, and the first pictures of each as they are learned."""
    fonts = [words.fonts[at * len(words.fonts) // n_font] for at in range(min(n_font, len(words.fonts)))]
    per_word = len(words.learned.words) // len(np.unique(words.learned.words))
    shown = list(dict.fromkeys(words.learned.words.tolist()))[:n_word]
    plain = rendered.Distortion(fill=(0.9, 0.9), stretch=(1, 1), slant=0, turn=0, stroke=0, blur=0, noise=0, ink=1)
    left = [[rendered.draw(w, [font], 0, seed=_SEED, distortion=plain) for font in fonts] for w in shown]
    right = [list(words.learned.images[row * per_word :][:8]) for row in range(len(shown))]
    figure = style.figure(7.6, 1.55)
    for ax, rows in zip(figure.subplots(1, 2, width_ratios=[len(fonts), 8]), (left, right), strict=True):
        ax.imshow(np.block(rows), cmap="gray_r", vmin=0, vmax=255, interpolation="nearest")
        ax.set_axis_off()
    return figure


def about_words(extent: Extent, n_font: int) -> str:
    return (
        "CARS196, CUB200, InShop, SOP and CIFAR-100 are taken as files of embeddings, in the folder given as --data "
        "(cars196-train.npz and cars196-test.npz; cars196-dropout0.5-train.npz and so on). Without them there is a "
        f"stand-in: pseudo-words are the classes, each drawn {extent.per_word} times in fonts of the system "
        f"({n_font} here), slanted, stretched, blurred and noisy. A small network of convolutions learns some of the "
        "words, and never sees the others. It shows the effect; its values are not those of the paper, and they change "
        "with the fonts and the version of PyTorch."
    )
