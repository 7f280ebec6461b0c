# expect: GT314 or GT303 or GT110 or GT111
# cause: the table comes from NumPy in float64, the layer has float32 weights
# wrong: raises RuntimeError
# cure: torch.from_numpy(table) -> torch.from_numpy(table).float()
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
table = rng.normal(size=(40, 6))
x = torch.from_numpy(table)  # <- here
y = torch.zeros(40, 1)
model = nn.Linear(6, 1)
loss = (model(x) - y).square().mean()  # <- here
loss.backward()
