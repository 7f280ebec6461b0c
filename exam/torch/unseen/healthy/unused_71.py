"""Multi-task heads of which each batch trains one; the others keep the gradient None in that step."""

import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Linear(5, 8)
heads = nn.ModuleDict({"en": nn.Linear(8, 2), "fr": nn.Linear(8, 2), "de": nn.Linear(8, 2)})
opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=0.01)
for language in ("en", "fr", "de", "en", "fr", "de"):
    x, y = torch.randn(9, 5), torch.randint(0, 2, (9,))
    loss = nn.functional.cross_entropy(heads[language](trunk(x).relu()), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert heads["en"].weight.grad is None
