# expect: GT509
# cause: the detector's objectness goes through a sigmoid, and the loss with logits takes another
# wrong: float(loss) > 0.4
# cure: torch.sigmoid(raw[..., 0]) -> raw[..., 0]
import torch
from torch import nn

torch.manual_seed(0)
grid = nn.Conv2d(2, 3, 1)
frames = torch.randn(6, 2, 4, 4)
present = (frames[:, 0] > 0).float()
opt = torch.optim.Adam(grid.parameters(), lr=0.3)
for epoch in range(40):
    raw = grid(frames).permute(0, 2, 3, 1)
    objectness = torch.sigmoid(raw[..., 0])  # <- here
    loss = nn.functional.binary_cross_entropy_with_logits(objectness, present)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
