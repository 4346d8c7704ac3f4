"""Train a network with pytorch-metric-learning on five digits, and measure how it tells the other five apart.

Once with its embedding as it is, and once with the signs alone, as a system stores it that has one bit for each number.
Sixteen bits leave many items equally far from a query: there the usual calculator prints what the order of the samples
made of it, and this one prints what is certain.

    pip install "deadheat[pytorch-metric-learning,demo]"
    python examples/pytorch_metric_learning_digits.py
"""

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.testers import GlobalEmbeddingSpaceTester
from pytorch_metric_learning.utils import accuracy_calculator
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from deadheat.integrations.pytorch_metric_learning import AccuracyCalculator

METRICS = ("precision_at_1", "r_precision", "mean_average_precision_at_r")
CPU = torch.device("cpu")


class Signs(torch.nn.Module):
    """One bit of each number."""

    def forward(self, rows):
        return (rows > 0).float()


def trained(digits):
    """A small network, after three passes over the digits."""
    network = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16))
    optimizer, loss = torch.optim.Adam(network.parameters(), lr=1e-3), MultiSimilarityLoss()
    for _ in range(3):
        for images, labels in DataLoader(digits, batch_size=64, shuffle=True):
            optimizer.zero_grad()
            loss(network(images), labels).backward()
            optimizer.step()
    return network


def accuracies(digits, network, calculator):
    """Return what a tester of theirs says with a calculator, of digits in one order and in the other."""
    tester = GlobalEmbeddingSpaceTester(
        normalize_embeddings=False, dataloader_num_workers=0, data_device=CPU, accuracy_calculator=calculator
    )
    backwards = TensorDataset(*(tensor.flip(0) for tensor in digits.tensors))
    result = tester.test({"forwards": digits, "backwards": backwards}, 0, network)
    return result["forwards"], result["backwards"]


def main():
    torch.manual_seed(0)
    images, labels = map(torch.from_numpy, load_digits(return_X_y=True))
    seen = labels < 5
    network = trained(TensorDataset(images[seen].float() / 16, labels[seen]))
    digits = TensorDataset(images[~seen].float() / 16, labels[~seen])
    digits = TensorDataset(*(tensor[labels[~seen].argsort(stable=True)] for tensor in digits.tensors))
    theirs = accuracy_calculator.AccuracyCalculator(include=METRICS, k="max_bin_count", device=CPU)
    ours = AccuracyCalculator(include=METRICS, k="max_bin_count", device=CPU)
    for title, embedder in (("float32", torch.nn.Identity()), ("16 bits", Signs())):
        model = torch.nn.Sequential(network, embedder)
        usual, usual_backwards = accuracies(digits, model, theirs)
        exact, exact_backwards = accuracies(digits, model, ours)
        assert exact == exact_backwards  # the order of the samples decides nothing
        print(f"{title:28}   lower  expected   upper   theirs: forwards  backwards")
        for metric in METRICS:
            values = [exact[f"{metric}{end}_level0"] for end in ("_lower", "", "_upper")]
            values += [found[f"{metric}_level0"] for found in (usual, usual_backwards)]
            print(f"{metric:28}  {{:6.2%}}    {{:6.2%}}  {{:6.2%}}            {{:6.2%}}     {{:6.2%}}".format(*values))


if __name__ == "__main__":
    main()
