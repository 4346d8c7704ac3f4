"""A small network that learns words from pictures, and a cache of the embeddings that it makes.

In come pictures and the word of each; out come embeddings (n, dim) float32. The network is trained as a classifier of
its training words: the logits are cosines between the embedding and one learned vector a word (normalised softmax).
Dropout, if any, stands right before the layer that makes the embedding, and is off when pictures are embedded.

PyTorch is imported only when a network is trained.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.inputs.formats import npy
from deadheat.studies.dropout.rendered import Grey, Pictures
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.extras import require

_AT_ONCE = 512  # pictures embedded in one go
_CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()  # of this module, as it was imported

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Recipe:
    """How a network is built and trained.

    Attributes
    ----------
    dropout : float
        Share of the features, in [0, 1), that is dropped at random before the layer that makes the embedding.
    seed : int
        Of the first weights, the order of the pictures and what is dropped.
    epochs : int
        Times that every training picture is seen.
    batch : int
        Pictures in a step; the few that are left over at the end of an epoch wait for the next.
    rate : float
        Highest learning rate (Adam, one cycle).
    sharpness : float
        What the cosines are multiplied by before the softmax.
    channels : tuple of int
        Of the three layers of convolution, each of which halves the picture.
    dim : int
        Of the embedding.
    """

    dropout: float = 0.0
    seed: int = 0
    epochs: int = 20
    batch: int = 64
    rate: float = 4e-3
    sharpness: float = 16.0
    channels: tuple[int, int, int] = (16, 32, 48)
    dim: int = 64


class Embedded(NamedTuple):
    """Embeddings (n, dim) float32 and words (n,) of the training pictures and of the test pictures."""

    train: Float32
    train_labels: NDArray[np.str_]
    test: Float32
    test_labels: NDArray[np.str_]


def is_installed() -> bool:
    """Whether PyTorch is there; it is not imported."""
    return util.find_spec("torch") is not None


def embedded(
    train: Pictures, test: Pictures, recipe: Recipe, cache: Path, *, threads: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Embedded:  # fmt: skip
    """Embeddings of the training and the test pictures by a network that learned the training pictures.

    Parameters
    ----------
    train, test : Pictures
    recipe : Recipe
    cache : Path
        A folder. What was computed before from the same pictures, recipe, code and version of PyTorch is read from
        there. The number of threads does not count: it changes rounding alone.
    threads : int, optional
    say : callable
        Takes a line when a network is trained.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    """
    torch = require("torch", "torch", "training a network")
    settings = {
        "recipe": asdict(recipe),
        "pictures": [digest(train), digest(test)],
        "code": _CODE,
        "torch": str(torch.__version__),
    }

    def make() -> Embedded:
        say(f"training on {len(set(train.words))} words, dropout {recipe.dropout:g}, seed {recipe.seed}")
        first, second = learn(train, [train.images, test.images], recipe, threads)
        return Embedded(first, train.words, second, test.words)

    return kept(cache, f"words-dropout{recipe.dropout:g}", settings, make)


def kept(cache: Path, name: str, settings: dict[str, Any], make: Callable[[], Embedded]) -> Embedded:
    """What is kept under these settings, or else what `make` returns, which is kept then.

    A file that is damaged, or that was made under other settings, is replaced.
    """
    told = json.dumps(settings, sort_keys=True)
    path = cache / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}.npz"
    stored = _load(path, told)
    if stored is None:
        stored = make()
        with replacing(path) as file:
            np.savez(file, settings=np.array(told), **stored._asdict())
    return stored


def digest(pictures: Pictures) -> str:
    """SHA-256 of the images and their words."""
    told = hashlib.sha256(json.dumps([pictures.images.shape, pictures.words.tolist()]).encode())
    told.update(pictures.images.tobytes())
    return told.hexdigest()


def learn(pictures: Pictures, to_embed: Sequence[Grey], recipe: Recipe, threads: int | None = None) -> list[Float32]:
    """Train a network on pictures, and embed some with it.

    Seeded: the same bits each time with the same number of threads, processor and version of PyTorch. PyTorch's own
    generator and its number of threads are left as they were.
    """
    torch = require("torch", "torch", "training a network")
    classes, targets = np.unique(pictures.words, return_inverse=True)
    with torch.random.fork_rng(devices=[]), _threads(torch, checks.thread_count(threads)):
        torch.default_generator.manual_seed(recipe.seed)  # of this processor: those of other devices stay
        network = _build(torch, recipe, pictures.images.shape[1:])
        _train(torch, network, pictures.images, targets, len(classes), recipe)
        return [_embed(torch, network, images) for images in to_embed]


def _build(torch: Any, recipe: Recipe, shape: tuple[int, ...]) -> Any:
    """Three layers of convolution, dropout, and a linear layer that makes the embedding."""
    nn = torch.nn
    first, second, third = recipe.channels
    layers = [nn.Conv2d(1, first, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
    for before, after in ((first, second), (second, third)):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.MaxPool2d(2),
            nn.BatchNorm2d(after),
            nn.ReLU(),
        ]
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
    """The embeddings, with dropout off and the statistics of the normalisation fixed."""
    network.eval()
    with torch.inference_mode():
        parts = [network(_input(torch, images[at : at + _AT_ONCE])) for at in range(0, len(images), _AT_ONCE)]
        return np.ascontiguousarray(torch.cat(parts).numpy(), dtype=np.float32)


def _input(torch: Any, images: Grey) -> Any:
    """Images as a tensor (n, 1, height, width) from 0 to 1."""
    grey = torch.from_numpy(images[:, None]).to(torch.float32) / 255
    return grey.to(memory_format=torch.channels_last)


@contextmanager
def _threads(torch: Any, threads: int) -> Iterator[None]:
    """Let PyTorch work with some threads, and put its number back."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _load(path: Path, told: str) -> Embedded | None:
    """What a file holds, if it is whole and was made under these settings."""
    try:
        with open(path, "rb") as file, npy.reading(path), np.load(file, allow_pickle=False) as archive:
            if str(archive["settings"]) != told:
                return None
            return Embedded(*(archive[name] for name in Embedded._fields))
    except (OSError, ValueError):
        return None
