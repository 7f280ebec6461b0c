# expect: GT402
# cause: the norm of the difference of a point with itself is zero, where the root has an infinite slope
# wrong: embedding.grad.isnan().any().item()
# cure: torch.sqrt((diff**2).sum(dim=-1)) -> torch.sqrt((diff**2).sum(dim=-1) + 1e-12)
import torch

torch.manual_seed(0)
embedding = torch.randn(12, 3, requires_grad=True)
wanted = torch.rand(12, 12)
wanted = (wanted + wanted.T) / 2

diff = embedding[:, None, :] - embedding[None, :, :]
distance = torch.sqrt((diff**2).sum(dim=-1))  # <- here
stress = ((distance - wanted) ** 2).mean()
stress.backward()  # <- asked
print(stress.item(), embedding.grad)
