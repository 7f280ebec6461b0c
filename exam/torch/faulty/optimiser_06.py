# expect: GT513
# cause: the optimiser is made before the model is given its extra layer with add_module, which then never moves
# wrong: torch.equal(model.adapter.weight, weight_at_start)
# cure: model.add_module("adapter", nn.Linear(7, 7))  # <- here -> model.add_module("adapter", nn.Linear(7, 7))\noptimizer.add_param_group({"params": model.adapter.parameters()})
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("embed", nn.Linear(5, 7))
model.add_module("act", nn.ReLU())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here
model.add_module("adapter", nn.Linear(7, 7))  # <- here
weight_at_start = model.adapter.weight.detach().clone()

x, y = torch.randn(32, 5), torch.randn(32, 7)
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()  # <- asked
    optimizer.step()  # <- asked
