# expect: GT310 or GT207
# cause: the starting point was written with integers, which cannot require a gradient
# wrong: raises RuntimeError
# cure: [3, -2] -> [3.0, -2.0]
import torch


def rosenbrock(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


start = [3, -2]  # <- here
point = torch.tensor(start, requires_grad=True)  # <- here
optimizer = torch.optim.Adam([point], lr=0.05)
for step in range(10):
    optimizer.zero_grad()
    value = rosenbrock(point)
    value.backward()
    optimizer.step()
print(point, value.item())
