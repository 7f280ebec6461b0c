# expect: GT201 or GT305 because GT207
# cause: the predicted positions are turned into pixel numbers with long() before the distance is taken
# wrong: raises RuntimeError
# cure: (locator(image) * 8).long() -> locator(image) * 8
import torch
import torch.nn as nn

torch.manual_seed(0)
locator = nn.Sequential(nn.Flatten(), nn.Linear(64, 2), nn.Sigmoid())
opt = torch.optim.Adam(locator.parameters())
image = torch.rand(10, 8, 8)
corner = torch.randint(0, 8, (10, 2))
for _ in range(2):
    pixel = (locator(image) * 8).long()  # <- here
    off = (pixel - corner).abs().float().mean()
    opt.zero_grad()
    off.backward()  # <- asked
    opt.step()
