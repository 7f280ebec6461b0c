# expect: GT513
# cause: the layers are kept in a plain list, and model.parameters() has only those of the head
# wrong: len(list(model.parameters())) != 6
# cure: self.hidden = [nn.Linear(5, 5) for _ in range(2)] -> self.hidden = nn.ModuleList([nn.Linear(5, 5) for _ in range(2)])
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(5, 5) for _ in range(2)]  # <- here
        self.head = nn.Linear(5, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.head(x)


torch.manual_seed(0)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=0.01)  # <- here
x = torch.randn(16, 5)
for _ in range(4):
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # <- asked
