"""Meta-learning of the start and of the step size."""

import torch

torch.manual_seed(17)
start = torch.zeros(3, requires_grad=True)
inner_lr = torch.tensor(0.1, requires_grad=True)
outer = torch.optim.Adam([start, inner_lr], lr=0.01)


def task():
    truth = torch.randn(3)
    x = torch.randn(12, 3)
    return x, x @ truth


for _ in range(4):
    outer_loss = 0.0
    for _ in range(2):
        x, y = task()
        fast = start.clone()
        inner = ((x @ fast - y) ** 2).mean()
        (grad,) = torch.autograd.grad(inner, fast, create_graph=True)
        fast = fast - inner_lr * grad
        outer_loss = outer_loss + ((x @ fast - y) ** 2).mean()
    outer.zero_grad()
    outer_loss.backward()
    outer.step()
assert inner_lr.grad is not None
