# expect: GT401
# cause: the discriminator is sure, its sigmoid is exactly 1, and log(1 - 1) is minus infinity
# wrong: torch.isinf(loss) or torch.isnan(loss)
# cure: torch.log(1 - torch.sigmoid(score)).mean() -> nn.functional.logsigmoid(-score).mean()
import torch
from torch import nn

torch.manual_seed(0)
generator, discriminator = nn.Linear(3, 5), nn.Linear(5, 1)
with torch.no_grad():
    discriminator.weight.fill_(40.0)
    generator.bias.fill_(1.0)
score = discriminator(generator(torch.randn(12, 3)))
loss = torch.log(1 - torch.sigmoid(score)).mean()  # <- here
loss.backward()
