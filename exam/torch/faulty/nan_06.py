# expect: GT401
# cause: exp overflows for a log rate of more than 88
# wrong: not torch.tensor(losses).isfinite().all()
# cure: data = torch.arange(1.0, 201.0).unsqueeze(1) -> data = torch.arange(1.0, 201.0).unsqueeze(1) / 200
import torch
from torch import nn


class PoissonRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)
        nn.init.ones_(self.linear.weight)

    def forward(self, x):
        return torch.exp(self.linear(x))  # <- here


torch.manual_seed(0)
data = torch.arange(1.0, 201.0).unsqueeze(1)  # <- here
counts = torch.poisson(torch.full((200, 1), 3.0))
model = PoissonRegression()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
losses = []
for step in range(3):
    rate = model(data)
    loss = (rate - counts * torch.log(rate + 1e-8)).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
    losses.append(loss.item())
