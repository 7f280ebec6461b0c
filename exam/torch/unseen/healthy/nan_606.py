import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Standardise(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=0)
        spread = x.std(dim=0, correction=0)
        return (x - mean) / (spread + 1e-5)


torch.manual_seed(0)
inputs = torch.randn(33, 4)
dataset = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
model = nn.Sequential(nn.Linear(4, 8), Standardise(), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for x, y in DataLoader(dataset, batch_size=8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert not (bool(loss.isnan()))
