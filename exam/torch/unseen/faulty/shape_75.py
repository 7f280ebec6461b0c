# expect: GT111 or GT110
# cause: the batch of rotation matrices is multiplied with points that have their coordinates on the first axis of each cloud swapped
# wrong: raises RuntimeError
# cure: torch.bmm(R, cloud) -> torch.bmm(R, cloud.transpose(1, 2))
import torch


def rotation(angle):
    c, s, zero, one = angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)
    return torch.stack([c, -s, zero, s, c, zero, zero, zero, one], dim=-1).view(-1, 3, 3)


torch.manual_seed(0)
angle = torch.zeros(5, requires_grad=True)
cloud, seen = torch.randn(5, 11, 3), torch.randn(5, 3, 11)
adam = torch.optim.Adam([angle], lr=0.1)
for it in range(3):
    R = rotation(angle)
    turned = torch.bmm(R, cloud)  # <- here
    loss = (turned - seen).norm(dim=1).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
