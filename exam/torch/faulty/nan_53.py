# expect: GT402
# cause: the angle between equal vectors: acos has an infinite slope at 1
# wrong: not torch.isfinite(rotation.grad).all()
# cure: torch.acos(cosine) -> torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))
import torch

target = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
rotation = torch.zeros((), requires_grad=True)


def rotate(vectors, angle):
    c, s = torch.cos(angle), torch.sin(angle)
    matrix = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
    return vectors @ matrix.T


def angular_error(a, b):
    cosine = (a * b).sum(dim=-1) / (a.norm(dim=-1) * b.norm(dim=-1))
    return torch.acos(cosine)  # <- here


loss = angular_error(rotate(target, rotation), target).mean()
loss.backward()  # <- asked
print(loss.item(), rotation.grad)
