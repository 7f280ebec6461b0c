# expect: GT201 because GT209 or GT207 or GT210
# cause: the positions of the two best scores are used instead of the scores
# wrong: scorer.weight.grad is None
# cure: best.indices.float() -> best.values
import torch
from torch import nn

torch.manual_seed(0)
items = torch.randn(25, 6, 4)
gain = torch.randn(25, 2)
scorer = nn.Linear(4, 1)
scale = nn.Parameter(torch.ones(2))
opt = torch.optim.SGD([scale, *scorer.parameters()], lr=0.01)
for _ in range(3):
    best = scorer(items).squeeze(-1).topk(2, dim=1)  # <- here
    loss = (best.indices.float() * scale - gain).square().mean()  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
