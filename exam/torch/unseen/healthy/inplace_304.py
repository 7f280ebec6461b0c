import torch
from torch import nn

torch.manual_seed(0)
backbone, probe = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 4)


@torch.no_grad()
def extract(x):
    return backbone(x)


features = [extract(torch.randn(10, 8)) for _ in range(3)]
labels = [torch.randint(0, 4, (10,)) for _ in range(3)]
opt = torch.optim.SGD(probe.parameters(), lr=0.1)
for x, y in zip(features, labels):
    loss = nn.functional.cross_entropy(probe(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert probe.weight.grad is not None
