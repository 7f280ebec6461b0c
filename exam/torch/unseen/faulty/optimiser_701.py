# expect: GT513 or GT512
# cause: weight_norm replaces the weight after the optimiser was made, which goes on with the old one
# wrong: torch.equal(model[0].parametrizations.weight.original1, before)
# cure: optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here\n -> \n
# cure: before = -> optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)\nbefore =
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv1d(6, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here
for layer in model:
    if isinstance(layer, nn.Conv1d):
        weight_norm(layer)  # <- here
before = model[0].parametrizations.weight.original1.detach().clone()
clean = torch.sin(torch.linspace(0, 20, 64)).view(1, 1, 64)
for step in range(4):
    noisy = clean + 0.2 * torch.randn(4, 1, 64)
    loss = (model(noisy) - clean.expand_as(noisy)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # <- asked
