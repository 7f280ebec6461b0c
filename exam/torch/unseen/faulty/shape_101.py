# expect: GT116
# cause: batch normalisation in training mode gets a batch of one example, whose variance is not defined
# wrong: raises ValueError
# cure: batch_size=8 -> batch_size=8, drop_last=True
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(17, 6), torch.randn(17, 1))
loader = DataLoader(data, batch_size=8)  # <- here
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
