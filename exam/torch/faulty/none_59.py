# expect: GT201 because GT209 or GT207
# cause: the gate is compared with a threshold, which has no derivative, so that the gate's network gets nothing
# wrong: model.gate.weight.grad is None
# cure: (torch.sigmoid(self.gate(x)) > 0.5).float() -> torch.sigmoid(self.gate(x))
import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x):
        mask = (torch.sigmoid(self.gate(x)) > 0.5).float()  # <- here
        return mask * self.value(x)


torch.manual_seed(0)
model = Gated(7)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
x = torch.randn(25, 7)
y = torch.relu(x)
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
