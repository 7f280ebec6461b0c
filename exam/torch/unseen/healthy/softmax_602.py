import torch
from torch import nn

torch.manual_seed(0)
layers = {
    "enter": nn.Linear(6, 24),
    "act": nn.ReLU(),
    "leave": nn.Linear(24, 4),
    "normalise": nn.LogSoftmax(dim=1),
}
model = nn.Sequential()
for name, layer in layers.items():
    model.add_module(name, layer)
criterion = nn.NLLLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(32, 6)
    log_p = model(x)
    loss = criterion(log_p, x[:, :4].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (not torch.allclose(log_p.exp().sum(dim=1), torch.ones(len(log_p))))
