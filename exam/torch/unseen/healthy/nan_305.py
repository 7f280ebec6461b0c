import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 8)[:, None]
x[3] = x[4]
y = torch.sin(6 * x)
scale, variance = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
distance = (x - x.T).square()
kernel = variance.exp() * torch.exp(-0.5 * distance / scale.exp() ** 2) + 1e-3 * torch.eye(8)
factor = torch.linalg.cholesky(kernel)
alpha = torch.cholesky_solve(y, factor)
loss = 0.5 * (y * alpha).sum() + factor.diagonal().log().sum()
loss.backward()
assert torch.isfinite(scale.grad)
