import torch
from torch import nn


class Meter:
    """Running means of numbers for display."""

    def __init__(self):
        self.totals, self.counts = {}, {}

    def add(self, count, **numbers):
        for name, number in numbers.items():
            self.totals[name] = self.totals.get(name, 0.0) + float(number) * count
            self.counts[name] = self.counts.get(name, 0) + count

    def __getitem__(self, name):
        return self.totals[name] / self.counts[name]


def accuracy(logits, labels, k):
    top = logits.topk(k, dim=1).indices
    return (top == labels.unsqueeze(1)).any(dim=1).float().mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 30), nn.Mish(), nn.Linear(30, 10))
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
meter = Meter()
for step in range(6):
    x = torch.randn(50, 12)
    labels = x[:, :10].argmax(dim=1)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    confusion = torch.zeros(10, 10)
    confusion.index_put_((labels, logits.argmax(dim=1)), torch.ones(50), accumulate=True)
    meter.add(len(x), loss=loss.item(), top1=accuracy(logits, labels, 1), top5=accuracy(logits, labels, 5))
assert meter["top5"] >= meter["top1"]
assert confusion.sum() == 50
