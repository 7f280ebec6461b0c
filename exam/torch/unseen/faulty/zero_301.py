# expect: GT404 or GT509 or GT118
# cause: cross_entropy of one output: the softmax over a single class is 1, and the loss always zero
# wrong: not model[2].weight.grad.any()
# cure: nn.CrossEntropyLoss()  # <- here -> nn.BCEWithLogitsLoss()
# cure: criterion(model(x), y)  # <- here -> criterion(model(x)[:, 0], y.float())
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))  # <- here
criterion = nn.CrossEntropyLoss()  # <- here
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(24, 6), torch.zeros(24, dtype=torch.long)
for _ in range(4):
    loss = criterion(model(x), y)  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
