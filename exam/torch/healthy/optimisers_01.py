"""Parameter groups with their own learning rate and weight decay; a ModuleList and a ParameterDict are registered."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
        self.scales = nn.ParameterDict({"gain": nn.Parameter(torch.ones(6))})
        self.register_buffer("offset", torch.full((6,), 0.1))
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x * self.scales["gain"] + self.offset)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.AdamW(
    [
        {"params": net.layers.parameters(), "lr": 1e-4},
        {"params": [*net.head.parameters(), *net.scales.values()], "weight_decay": 0.0},
    ],
    lr=1e-2,
)
x, y = torch.randn(20, 6), torch.randn(20, 1)
for step in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert len(list(net.parameters())) == 9
assert net.scales["gain"].grad is not None
