# expect: GT402 or GT405
# cause: the covariance of the whitened points has equal eigenvalues, for which eigenvectors have no derivative
# wrong: not torch.isfinite(x.grad).all()
# cure: vectors.abs().sum() -> values.abs().sum()
import torch

x = torch.eye(4).repeat(3, 1).requires_grad_()
covariance = x.T @ x / 12
values, vectors = torch.linalg.eigh(covariance)  # <- here
loss = vectors.abs().sum() + values.sum()
loss.backward()  # <- asked
