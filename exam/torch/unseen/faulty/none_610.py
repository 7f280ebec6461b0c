# expect: GT201 or GT512 or GT206 because GT208 or GT206
# cause: the normalised weight is read through .data, so that no gradient reaches it
# wrong: layer.weight.grad is None
# cure: self.weight.data / norm -> self.weight / norm
import torch
import torch.nn.functional as F
from torch import nn


class CosineLinear(nn.Module):
    """A linear layer of normalised rows, with a learned temperature."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.temperature = nn.Parameter(torch.tensor(5.0))

    def forward(self, x):
        norm = self.weight.norm(dim=1, keepdim=True).detach()
        rows = self.weight.data / norm  # <- here
        return self.temperature * F.linear(F.normalize(x, dim=1), rows)


torch.manual_seed(0)
layer = CosineLinear(8, 5)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(24, 8)
    loss = F.cross_entropy(layer(x), x[:, :5].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
