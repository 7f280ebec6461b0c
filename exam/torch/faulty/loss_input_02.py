# expect: GT509
# cause: forward returns a sigmoid, and BCEWithLogitsLoss takes the sigmoid itself
# wrong: not torch.isclose(loss, nn.functional.binary_cross_entropy(output if output.min() >= 0 else output.sigmoid(), y), atol=1e-4)
# cure: torch.sigmoid(self.fc2(h)) -> self.fc2(h)
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 10)
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return torch.sigmoid(self.fc2(h))  # <- here


torch.manual_seed(0)
x = torch.randn(50, 6)
y = (x[:, :1] + x[:, 1:2] > 0).float()
model = Detector()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    output = model(x)
    loss = loss_fn(output, y)  # <- here
    loss.backward()
    optimizer.step()
