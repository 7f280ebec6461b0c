import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

torch.manual_seed(0)
target = nn.Linear(3, 2)
size = sum(p.numel() for p in target.parameters())
hyper = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, size))
optimizer = torch.optim.Adam(hyper.parameters(), lr=1e-3)
for step in range(4):
    task = torch.randn(4)
    x = torch.randn(10, 3)
    y = x[:, :2] * task[:2] + task[2:]
    weights = hyper(task)
    prediction = x @ weights[:6].view(2, 3).T + weights[6:]
    loss = nn.functional.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad is not None for p in hyper.parameters())
