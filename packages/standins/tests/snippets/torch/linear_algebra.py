"""torch.linalg and its gradients."""

import torch

a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], requires_grad=True)
b = torch.tensor([1.0, 2.0])
print(torch.linalg.solve(a, b), torch.linalg.inv(a), torch.linalg.det(a))
print(torch.linalg.eigh(a).eigenvalues, torch.linalg.svdvals(a), torch.linalg.cholesky(a))
print(torch.linalg.norm(a), torch.linalg.matrix_norm(a, 2), torch.linalg.vector_norm(b, 1))
print(torch.linalg.slogdet(a), torch.linalg.matrix_rank(a), torch.linalg.matrix_power(a, 3))
torch.linalg.solve(a, b).sum().backward()
print(a.grad)
a.grad = None
torch.logdet(a).backward() if hasattr(torch, "logdet") else torch.linalg.slogdet(a).logabsdet.backward()
print(a.grad)
try:
    torch.linalg.inv(torch.zeros(2, 2))
except RuntimeError as error:
    print("singular:", isinstance(error, torch.linalg.LinAlgError))
try:
    a @ torch.ones(3)
except RuntimeError:
    print("shapes do not fit")
x = torch.arange(4.0)
print(torch.fft.fft(x), torch.fft.rfft(x), torch.fft.ifft(torch.fft.fft(x)).real)
