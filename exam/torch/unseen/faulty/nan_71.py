# expect: GT401
# cause: two bodies start at the same place, and their force divides zero by zero
# wrong: bool(torch.isnan(velocity.grad).any())
# cure: [0.0, 1.0], [2.0, 0.0], [2.0, 0.0] -> [0.0, 1.0], [2.0, 0.0], [2.5, 0.0]
import torch

place = torch.tensor([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 0.0]])  # <- here
velocity = torch.zeros(4, 2, requires_grad=True)


def pull(p):
    i, j = torch.triu_indices(4, 4, offset=1)
    gap = p[j] - p[i]
    far = gap.square().sum(1, keepdim=True)
    f = gap / far**1.5  # <- here
    return torch.zeros_like(p).index_add(0, i, f).index_add(0, j, -f)


dt, p, v = 0.1, place, velocity
for _ in range(3):
    v = v + dt * pull(p)
    p = p + dt * v
goal = (p[0] - torch.tensor([1.0, 1.0])).square().sum()
goal.backward()  # <- asked
