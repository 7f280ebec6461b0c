# expect: GT310 or GT207
# cause: the initial guess is an integer array, which cannot require a gradient
# wrong: raises RuntimeError
# cure: np.array([1, 2, 3]) -> np.array([1.0, 2.0, 3.0])
import numpy as np
import torch

guess = np.array([1, 2, 3])  # <- here
theta = torch.from_numpy(guess).requires_grad_()  # <- here
t = torch.linspace(0, 1, 20, dtype=torch.double)
observed = torch.exp(-2 * t) + 0.5


def model(theta):
    return theta[0] * torch.exp(-theta[1] * t) + theta[2]


for step in range(10):
    loss = (model(theta) - observed).pow(2).mean()
    (g,) = torch.autograd.grad(loss, theta)
    theta = (theta - 0.1 * g).detach().requires_grad_()
