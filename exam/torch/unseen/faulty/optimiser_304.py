# expect: GT513
# cause: forward makes a new projection in every call, so that its weights are random each time and never trained
# wrong: not hasattr(model, "project")
# cure: self.embed = nn.Linear(6, 10) -> self.embed = nn.Linear(6, 10)\n        self.project = nn.Linear(10, 1)
# cure: return nn.Linear(10, 1)(h) -> return self.project(h)
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 10)

    def forward(self, x):
        h = torch.tanh(self.embed(x))
        return nn.Linear(10, 1)(h)  # <- here


torch.manual_seed(0)
model = Regressor()
opt = torch.optim.SGD(model.parameters(), lr=0.05)  # <- here
x, y = torch.randn(20, 6), torch.randn(20, 1)
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    opt.step()  # <- asked
