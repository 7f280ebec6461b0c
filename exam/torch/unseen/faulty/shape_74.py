# expect: GT118 or GT110 or GT509
# cause: mask targets of the segmentation have the channel axis that cross_entropy does not want
# wrong: raises RuntimeError
# cure: masks = torch.randint(0, 3, (4, 1, 8, 8)) -> masks = torch.randint(0, 3, (4, 8, 8))
import torch
from torch import nn

torch.manual_seed(0)
scans = torch.randn(4, 1, 8, 8)
masks = torch.randint(0, 3, (4, 1, 8, 8))  # <- here
segmenter = nn.Sequential(nn.Conv2d(1, 6, 3, padding="same"), nn.ReLU(), nn.Conv2d(6, 3, 1))
criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 1.0, 1.0]))
opt = torch.optim.SGD(segmenter.parameters(), lr=0.1)
loss = criterion(segmenter(scans), masks)  # <- here
opt.zero_grad()
loss.backward()
opt.step()
