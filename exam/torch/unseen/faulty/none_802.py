# expect: GT201 or GT202 or GT513 because GT208 or GT210 or GT202 or GT205 or GT513
# cause: forward wraps the modulated weight into a Parameter, so that the style network gets no gradient
# wrong: all(p.grad is None for p in layer.style.parameters())
# cure: nn.Parameter(self.weight * scale) -> self.weight * scale
import torch
from torch import nn


class ModulatedLinear(nn.Module):
    def __init__(self, inputs, outputs, styles):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.style = nn.Linear(styles, inputs)

    def forward(self, x, style):
        scale = 1 + self.style(style).mean(dim=0)
        modulated = nn.Parameter(self.weight * scale)  # <- here
        return nn.functional.linear(x, modulated)


torch.manual_seed(0)
layer, head = ModulatedLinear(6, 8, 4), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=1e-3)
for step in range(4):
    x, style = torch.randn(10, 6), torch.randn(10, 4)
    loss = (head(torch.relu(layer(x, style))) - x.sum(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
