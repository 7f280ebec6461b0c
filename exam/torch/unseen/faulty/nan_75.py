# expect: GT401
# cause: arctanh of a point on the border of the unit ball is infinite
# wrong: not all(torch.isfinite(p.grad).all() for p in (u, v))
# cure: max=1.0 -> max=0.999
import torch

torch.manual_seed(0)
u = torch.tensor([[0.3, 0.1], [3.0, 4.0]], requires_grad=True)
v = torch.tensor([[0.2, 0.2], [0.1, 0.3]], requires_grad=True)


def log_map(x):
    n = x.norm(dim=-1, keepdim=True)
    radius = n.clamp(max=1.0)
    return torch.atanh(radius) * x / n  # <- here


def hyperbolic_loss():
    return (log_map(u) - log_map(v)).square().sum()


loss = hyperbolic_loss()
loss.backward()  # <- asked
