# expect: GT402 or GT403 or GT401
# cause: the missing targets are left out after the squared error was computed, and 0 times NaN is NaN on the way back
# wrong: bool(net[0].weight.grad.isnan().any())
# cure: criterion(prediction, target)[known].mean() -> criterion(prediction[known], target[known]).mean()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.MSELoss(reduction="none")
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
features = torch.randn(40, 6)
assays = features[:, :3] * 1.5
assays[torch.rand(40, 3) < 0.3] = float("nan")
for rows in torch.randperm(40).split(10):
    prediction, target = net(features[rows]), assays[rows]
    known = ~torch.isnan(target)
    loss = criterion(prediction, target)[known].mean()  # <- here
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
