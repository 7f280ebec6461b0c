# expect: GT201 or GT305 because GT210 or GT208 or GT203
# cause: the mean of the output is taken with NumPy and made a tensor again
# wrong: raises RuntimeError
# cure: torch.from_numpy(np.abs(output.detach().numpy() - y.numpy())).mean() -> (output - y).abs().mean()
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
regressor = nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(regressor.parameters(), lr=1e-3)

for step in range(2):
    optimizer.zero_grad()
    output = regressor(x)
    mae = torch.from_numpy(np.abs(output.detach().numpy() - y.numpy())).mean()  # <- here
    mae.backward()  # <- asked
    optimizer.step()
