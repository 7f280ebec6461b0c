"""Forces as minus the gradient of a learned energy, in the loss; a molecule that is at rest in places."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 10), nn.SiLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
positions = torch.rand(6, 4, 3, requires_grad=True)
true_forces = torch.randn(6, 4, 3)
i, j = torch.triu_indices(4, 4, offset=1)
for step in range(3):
    distances = (positions[:, i] - positions[:, j]).norm(dim=-1, keepdim=True)
    energy = net(distances).sum()
    forces = -torch.autograd.grad(energy, positions, create_graph=True)[0]
    loss = (forces - true_forces).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    positions.grad = None
# the energy's offset has no influence on the forces
assert net[2].bias.grad is None or not net[2].bias.grad.any()
assert net[0].weight.grad.any()
