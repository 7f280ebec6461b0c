# expect: GT509
# cause: the labels are -1 and 1, and the binary cross entropy wants 0 and 1
# wrong: loss < 0
# cure: binary_cross_entropy_with_logits(model(x)[:, 0], y) -> binary_cross_entropy_with_logits(model(x)[:, 0], (y + 1) / 2)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(50, 4)
y = torch.sign(x @ torch.tensor([1.0, -1.0, 0.5, 0.0]))  # <- here
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=1.0)
for _ in range(20):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
