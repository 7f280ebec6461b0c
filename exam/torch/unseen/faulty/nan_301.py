# expect: GT401
# cause: the ranks start at 0, whose normal quantile is minus infinity, and the layer makes NaN of it
# wrong: torch.isnan(loss) or torch.isinf(loss)
# cure: ranks = column.argsort().argsort() / 20  # <- here -> ranks = (column.argsort().argsort() + 0.5) / 20
import torch
from torch import nn

torch.manual_seed(0)


def normal_scores(column):
    ranks = column.argsort().argsort() / 20  # <- here
    return 2**0.5 * torch.erfinv(2 * ranks - 1)  # <- here


table, y = torch.randn(20, 3) ** 3, torch.randn(20, 1)
x = torch.stack([normal_scores(table[:, j]) for j in range(3)], dim=1)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
