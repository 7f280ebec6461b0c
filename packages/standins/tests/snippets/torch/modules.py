"""Modules: parameters, buffers, names, state."""

import torch
from torch import nn


class Block(nn.Module):
    """A layer, a parameter of its own and a buffer."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        return torch.relu(self.layer(x)) * self.scale


class Net(nn.Module):
    """Two blocks and a head."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(2), Block(2)])
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 1))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


net = Net()
print(net)
for name, parameter in net.named_parameters():
    print(name, parameter.shape, parameter.requires_grad)
print([name for name, _ in net.named_buffers()], [name for name, _ in net.named_children()])
print(sum(p.numel() for p in net.parameters()))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.fill_(0.5)
net.eval()
out = net(torch.ones(3, 2))
print(out, net.training, net.blocks[0].calls)
out.sum().backward()
print(net.head[1].weight.grad, net.blocks[0].scale.grad)
net.zero_grad()
print(net.head[1].weight.grad)
print(list(net.state_dict())[:3])
other = Net()
print(other.load_state_dict(net.state_dict()))
print(torch.equal(other.head[1].weight, net.head[1].weight))
try:
    other.load_state_dict({"wrong": torch.ones(1)})
except RuntimeError:
    print("names have to match")
net.blocks.requires_grad_(False)
print([name for name, p in net.named_parameters() if p.requires_grad])
print(net.head[1].bias)
