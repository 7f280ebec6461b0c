# expect: GT513
# cause: the weight is replaced by a new Parameter after the optimiser has taken the old one
# wrong: torch.equal(model[0].weight, orthogonal)
# cure: model[0].weight = nn.Parameter(orthogonal.clone()) -> model[0].weight.data.copy_(orthogonal)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # <- here

orthogonal = nn.init.orthogonal_(torch.empty(8, 8))
model[0].weight = nn.Parameter(orthogonal.clone())  # <- here

x, y = torch.randn(26, 8), torch.randn(26, 1)
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
