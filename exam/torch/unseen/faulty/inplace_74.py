# expect: GT309
# cause: the moving statistics of the tied weight are written into the weight between the forward and the backward pass
# wrong: raises RuntimeError
# cure: shared.weight.copy_(0.9 * shared.weight + 0.1 * teacher) -> pass
import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(5, 5)
teacher = torch.eye(5)
opt = torch.optim.Adam(shared.parameters())


def pull_towards_teacher():
    with torch.no_grad():
        shared.weight.copy_(0.9 * shared.weight + 0.1 * teacher)  # <- here


def cycle(x):
    return shared(torch.tanh(shared(x)))


for step in range(2):
    x = torch.randn(7, 5)
    loss = (cycle(x) - x).abs().mean()
    pull_towards_teacher()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
