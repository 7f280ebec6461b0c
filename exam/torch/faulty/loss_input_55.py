# expect: GT509
# cause: the multi-label network ends in a sigmoid, and the loss with logits applies another
# wrong: not torch.isclose(loss, F.binary_cross_entropy_with_logits(out.logit() if out.min() >= 0 else out, tags, pos_weight=weight), atol=1e-4)
# cure: nn.Linear(12, 6),\n    nn.Sigmoid(),  # <- here -> nn.Linear(12, 6),
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tagger = nn.Sequential(
    nn.Linear(10, 12),
    nn.ReLU(),
    nn.Linear(12, 6),
    nn.Sigmoid(),  # <- here
)
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-2)
x, tags = torch.randn(25, 10), (torch.rand(25, 6) < 0.3).float()
weight = (1 - tags.mean(0)) / tags.mean(0).clamp(min=0.05)


def step(x, tags):
    optimizer.zero_grad()
    out = tagger(x)
    loss = F.binary_cross_entropy_with_logits(out, tags, pos_weight=weight)  # <- here
    loss.backward()
    optimizer.step()
    return loss, out


for epoch in range(4):
    loss, out = step(x, tags)
