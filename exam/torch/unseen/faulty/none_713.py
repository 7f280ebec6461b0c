# expect: GT201 or GT202 because GT202
# cause: the gradient is asked for all parameters, and the projection of the shortcut is never used in forward
# wrong: raises RuntimeError
# cure: return torch.relu(h + x) -> return torch.relu(h + self.project(x))
import torch
from torch import nn


class ResidualMLP(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.project = nn.Linear(width, width)  # <- here
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        h = self.second(torch.relu(self.first(x)))
        return torch.relu(h + x)  # <- here


def sgd_step(model, loss, lr):
    grads = torch.autograd.grad(loss, list(model.parameters()))  # <- here
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            p.sub_(lr * g)
    return grads


torch.manual_seed(0)
model = ResidualMLP()
for step in range(3):
    x, y = torch.randn(20, 6), torch.randn(20, 6).abs()
    loss = nn.functional.smooth_l1_loss(model(x), y)
    grads = sgd_step(model, loss, 0.1)
