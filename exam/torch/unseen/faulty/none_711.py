# expect: GT201 or GT512 because GT206 or GT208
# cause: the weights that the hypernetwork makes are copied into the target network, and a copy carries no gradient back
# wrong: all(p.grad is None for p in hyper.parameters())
# cure: vector_to_parameters(hyper(task), target.parameters()) -> weights = hyper(task)
# cure: prediction = target(x) -> prediction = x @ weights[:6].view(2, 3).T + weights[6:]
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
    vector_to_parameters(hyper(task), target.parameters())  # <- here
    prediction = target(x)
    loss = nn.functional.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
