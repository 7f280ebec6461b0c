# expect: GT201 because GT210 or GT208
# cause: the log variance is taken out as a float by .item() before it is used in the loss
# wrong: log_var.grad is None
# cure: math.exp(-log_var.item()) -> torch.exp(-log_var)
import math

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 2)
y = x @ torch.tensor([[2.0], [-1.0]]) + 0.3 * torch.randn(60, 1)

model = nn.Linear(2, 1)
log_var = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([*model.parameters(), log_var], lr=0.05)


def gaussian_nll(prediction, target):
    precision = math.exp(-log_var.item())  # <- here
    return 0.5 * (precision * (prediction - target) ** 2).mean()


for step in range(5):
    optimizer.zero_grad()
    loss = gaussian_nll(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
