# expect: GT404 or GT209 or GT201
# cause: grid_sample with the nearest pixel does not depend on small moves of the grid, so that the localisation network gets zeros
# wrong: not locate[2].weight.grad.any()
# cure: mode="nearest", align_corners=False)  # <- here -> mode="bilinear", align_corners=False)
import torch
from torch import nn

torch.manual_seed(0)
locate = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Linear(16, 6))
locate[2].weight.data.mul_(0.1)
locate[2].bias.data.copy_(torch.tensor([1.0, 0, 0, 0, 1, 0]))
image, reference = torch.rand(4, 1, 8, 8), torch.rand(4, 1, 8, 8)
opt = torch.optim.SGD(locate.parameters(), lr=0.1)
for _ in range(3):
    theta = locate(image).view(-1, 2, 3)
    grid = nn.functional.affine_grid(theta, image.shape, align_corners=False)
    moved = nn.functional.grid_sample(image, grid, mode="nearest", align_corners=False)  # <- here
    loss = (moved - reference).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
