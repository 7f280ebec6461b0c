"""detach and data: the same numbers, without the gradient."""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x.detach()
print(y, y.requires_grad)
out = (x**2 + y).sum()
out.backward()
print(x.grad)
x.data -= 1
print(x)
x.data.zero_()
print(x, y)
x.data = torch.tensor([4.0, 5.0, 6.0])
print(x)
print(x.sum().item(), x.tolist())
frozen = (x * 2).detach().requires_grad_()
(frozen * 3).sum().backward()
print(frozen.grad, x.grad)
print(x.clone(), x.clone().detach())
print(x.detach().numpy())
