# expect: GT404 or GT503 or GT504
# cause: the output is clamped to [0, 1] and starts far above 1, where the clamp has no slope
# wrong: not any(p.grad.any() for p in model.parameters())
# cure: self.out.bias.fill_(5.0) -> self.out.bias.fill_(0.5)
import torch
from torch import nn


class BoundedRegressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
        with torch.no_grad():
            self.out.weight.mul_(0.1)
            self.out.bias.fill_(5.0)  # <- here

    def forward(self, x):
        return self.out(x).clamp(0, 1)  # <- here


torch.manual_seed(0)
x = torch.randn(30, 4)
y = torch.sigmoid(x[:, :1])
model = BoundedRegressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
