# expect: GT102 or GT101
# cause: the network has one output, the target has three columns, and mse_loss stretches the prediction
# wrong: net(joints).shape[-1] == 1
# cure: outputs=1 -> outputs=3
import torch
import torch.nn.functional as F
from torch import nn


def make_mlp(inputs, outputs, width=24):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))


torch.manual_seed(0)
joints = torch.rand(40, 6)
hand = torch.stack([joints[:, :3].sum(1), joints[:, 3:].sum(1), joints.prod(1)], dim=1)
net = make_mlp(inputs=6, outputs=1)  # <- here
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(net(joints), hand)  # <- here
    loss.backward()
    optimizer.step()
