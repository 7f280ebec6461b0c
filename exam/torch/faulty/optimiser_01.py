# expect: GT513
# cause: the layers are in a plain list, so that model.parameters() has the head only
# wrong: len(list(model.parameters())) == 2
# cure: [nn.Linear(16, 16) for _ in range(3)] -> nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])
import torch
from torch import nn


class DeepNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(16, 16) for _ in range(3)]  # <- here
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


torch.manual_seed(0)
model = DeepNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # <- asked
x, y = torch.randn(20, 16), torch.randn(20, 1)
for _ in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
