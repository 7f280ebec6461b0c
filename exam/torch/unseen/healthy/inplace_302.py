import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(4, 3),
)
gradients = []
net[0].register_full_backward_hook(lambda module, inputs, outputs: gradients.append(outputs[0]))
image = torch.rand(2, 1, 6, 6, requires_grad=True)
score = net(image)[:, 1].sum()
score.backward()
assert gradients[0].shape == (2, 4, 6, 6)
