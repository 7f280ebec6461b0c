# expect: GT201 or GT305 because GT208
# cause: the perceptual loss detaches the generated image as well as the reference
# wrong: raises RuntimeError
# cure: features(image.detach()) -> features(image)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))
for p in features.parameters():
    p.requires_grad_(False)
generator = nn.ConvTranspose2d(2, 1, 4, stride=2)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)


def perceptual_loss(image, reference):
    return F.l1_loss(features(image.detach()), features(reference.detach()))  # <- here


z, reference = torch.randn(3, 2, 5, 5), torch.rand(3, 1, 12, 12)
for step in range(2):
    optimizer.zero_grad()
    loss = perceptual_loss(generator(z), reference)
    loss.backward()  # <- asked
    optimizer.step()
