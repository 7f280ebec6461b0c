"""Eigenvalues of a matrix with distinct ones; the spectral norm by svdvals."""

import torch

torch.manual_seed(0)
a = torch.randn(5, 5, requires_grad=True)
sym = a @ a.T + torch.diag(torch.arange(5.0))
values, vectors = torch.linalg.eigh(sym)
loss = values.log().sum() + vectors[:, 0].square() @ torch.arange(5.0) + torch.linalg.svdvals(a).max()
loss.backward()
assert a.grad.isfinite().all()
