# expect: GT308
# cause: both tasks share the features, and the first backward frees their graph
# wrong: raises RuntimeError
# cure: depth_loss.backward()\n -> depth_loss.backward(retain_graph=True)\n
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(47)
backbone = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
depth_head, mask_head = nn.Conv2d(4, 1, 1), nn.Conv2d(4, 2, 1)
parts = nn.ModuleList([backbone, depth_head, mask_head])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-3)
image = torch.randn(2, 1, 6, 6)
depth, mask = torch.rand(2, 1, 6, 6), torch.randint(0, 2, (2, 6, 6))

for _ in range(2):
    optimizer.zero_grad()
    features = backbone(image)
    depth_loss = F.l1_loss(depth_head(features), depth)
    mask_loss = F.cross_entropy(mask_head(features), mask)
    depth_loss.backward()
    mask_loss.backward()  # <- here
    optimizer.step()
