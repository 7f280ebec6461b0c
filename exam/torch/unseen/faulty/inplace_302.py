# expect: GT309
# cause: the ReLU after the layer with the backward hook works in place, on what the hook gave out as a view
# wrong: raises RuntimeError
# cure: nn.ReLU(inplace=True) -> nn.ReLU()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.ReLU(inplace=True),  # <- here
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(4, 3),
)
gradients = []
net[0].register_full_backward_hook(lambda module, inputs, outputs: gradients.append(outputs[0]))  # <- here
image = torch.rand(2, 1, 6, 6, requires_grad=True)
score = net(image)[:, 1].sum()  # <- asked
score.backward()
