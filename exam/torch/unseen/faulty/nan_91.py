# expect: GT402 or GT403
# cause: the distance of a point to itself is the square root of zero, whose derivative is infinite
# wrong: not torch.isfinite(points.grad).all()
# cure: .sum(-1).sqrt() -> .sum(-1).clamp_min(1e-12).sqrt()
import torch

torch.manual_seed(0)
points = torch.randn(6, 2, requires_grad=True)
difference = points[:, None, :] - points[None, :, :]
distance = (difference**2).sum(-1).sqrt()  # <- here
energy = torch.exp(-distance).sum()
energy.backward()  # <- asked
