import torch
from torch import nn


class Force(nn.Module):
    def __init__(self):
        super().__init__()
        self.potential = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, z):
        pass
        energy = self.potential(z).sum()
        return -torch.autograd.grad(energy, z, create_graph=True)[0]


torch.manual_seed(0)
encoder, force = nn.Linear(6, 3), Force()
opt = torch.optim.Adam([*encoder.parameters(), *force.parameters()], lr=1e-3)
x, y = torch.randn(20, 6), torch.randn(20, 3)
for _ in range(3):
    loss = (force(encoder(x)) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert encoder.weight.grad is not None
