"""Two tasks whose losses are stacked."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)
faces = torch.randn(24, 9)
years, sexes = torch.rand(24), torch.randint(0, 2, (24,))
trunk = nn.Linear(9, 8)
heads = nn.ModuleDict({"age": nn.Linear(8, 1), "sex": nn.Linear(8, 2)})
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-2)
weights = torch.tensor([1.0, 0.5])

for _ in range(3):
    shared = F.relu(trunk(faces))
    age = F.mse_loss(heads["age"](shared).squeeze(1), years)
    sex = F.cross_entropy(heads["sex"](shared), sexes)
    losses = torch.stack([age, sex])
    loss = (weights * losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert trunk.weight.grad is not None
