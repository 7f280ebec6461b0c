# expect: GT201 or GT205 or GT513 because GT205 or GT513
# cause: double() makes a new tensor which is not a leaf, and has the name of the old one
# wrong: raises ValueError
# cure: coefficients.double() -> coefficients.double().detach().requires_grad_()
import numpy as np
import torch

rng = np.random.default_rng(0)
x = torch.from_numpy(rng.uniform(-1, 1, 40))
y = 0.5 - 2 * x + 3 * x**2

torch.manual_seed(0)
coefficients = torch.randn(3, requires_grad=True)
coefficients = coefficients.double()  # <- here
optimizer = torch.optim.Adam([coefficients], lr=0.1)  # <- asked
powers = torch.stack([x**k for k in range(3)], dim=1)
for step in range(20):
    optimizer.zero_grad()
    loss = ((powers @ coefficients - y) ** 2).mean()
    loss.backward()
    optimizer.step()
