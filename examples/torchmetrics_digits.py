"""A tiny network learns to embed scikit-learn's digits; torchmetrics follows it, with its bounds under ties.

The last lines store the embeddings as signs, a bit for each number: many distances are then equal, and the bounds part.

    pip install "deadheat[torchmetrics]" scikit-learn
    python examples/torchmetrics_digits.py
"""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from deadheat.integrations.torchmetrics import EmbeddingRetrieval

EPOCHS = 3


def loaders() -> tuple[DataLoader, DataLoader]:
    """Batches of every other image to learn from, and of the rest to test on, each image with its row in the data."""
    digits = load_digits()
    images, labels = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    rows = torch.arange(len(labels))
    train, test = (TensorDataset(images[part::2], labels[part::2], rows[part::2]) for part in (0, 1))
    return DataLoader(train, batch_size=64, shuffle=True), DataLoader(test, batch_size=100)


def main() -> None:
    torch.manual_seed(0)
    train, test = loaders()
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    floats = EmbeddingRetrieval("MAP@R, Hit@1")
    bits = EmbeddingRetrieval("MAP@R, Hit@1", distance="hamming")
    for epoch in range(1, EPOCHS + 1):
        for images, labels, _ in train:
            embeddings = torch.nn.functional.normalize(model(images))
            same = (labels[:, None] == labels).float()
            loss = torch.nn.functional.mse_loss(embeddings @ embeddings.T, same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        floats.reset()
        for images, labels, ids in test:
            floats.update(model(images), labels, ids)
        value = floats.compute()
        print(f"epoch {epoch}: {value['MAP@R']:.2%} MAP@R, {value['Hit@1']:.2%} Hit@1")
    for images, labels, ids in test:
        bits.update(model(images) > 0, labels, ids)
    print(bits.report())


if __name__ == "__main__":
    main()
