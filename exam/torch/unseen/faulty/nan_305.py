# expect: GT405 or GT401
# cause: two inputs of the Gaussian process are the same point, so that the kernel matrix is singular and has no Cholesky factor
# wrong: raises RuntimeError
# cure: kernel = variance.exp() * torch.exp(-0.5 * distance / scale.exp() ** 2)  # <- here -> kernel = variance.exp() * torch.exp(-0.5 * distance / scale.exp() ** 2) + 1e-3 * torch.eye(8)
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 8)[:, None]
x[3] = x[4]
y = torch.sin(6 * x)
scale, variance = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
distance = (x - x.T).square()
kernel = variance.exp() * torch.exp(-0.5 * distance / scale.exp() ** 2)  # <- here
factor = torch.linalg.cholesky(kernel)  # <- here
alpha = torch.cholesky_solve(y, factor)
loss = 0.5 * (y * alpha).sum() + factor.diagonal().log().sum()
loss.backward()
