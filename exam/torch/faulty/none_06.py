# expect: GT201 or GT202 because GT202
# cause: forward calls fc1 twice, and fc2 never
# wrong: net.fc2.weight.grad is None
# cure: x = torch.relu(self.fc1(x))  # <- here -> x = torch.relu(self.fc2(x))
import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 8)
        self.fc2 = nn.Linear(8, 8)  # <- here
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = torch.relu(self.fc1(x))  # <- here
        return self.head(x)


torch.manual_seed(0)
net = Mlp()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(32, 8)
y = x[:, :1] ** 2
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
