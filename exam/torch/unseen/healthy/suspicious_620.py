import torch
from torch import nn


class Highway(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.gates = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.drop = 0.3

    def forward(self, x):
        for layer, gate in zip(self.layers, self.gates):
            if self.training and torch.rand(()).item() < self.drop:
                continue  # stochastic depth
            t = torch.sigmoid(gate(x))
            x = t * torch.relu(layer(x)) + (1 - t) * x
        return x


torch.manual_seed(0)
model = nn.Sequential(Highway(8, 5), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for step in range(12):
    x = torch.randn(30, 8)
    loss = nn.functional.l1_loss(model(x), x[:, :1] * 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
assert torch.stack(losses).isfinite().all()
