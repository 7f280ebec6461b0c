# expect: GT401
# cause: the last batch has one example, and the standard deviation of one number divides by n - 1 = 0
# wrong: bool(loss.isnan())
# cure: x.std(dim=0) -> x.std(dim=0, unbiased=False)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Standardise(nn.Module):
    def forward(self, x):
        return (x - x.mean(dim=0)) / (x.std(dim=0) + 1e-6)  # <- here


torch.manual_seed(0)
data = TensorDataset(torch.randn(33, 5), torch.randint(0, 2, (33,)))
model = nn.Sequential(Standardise(), nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=8):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # <- asked
        optimizer.step()
