"""Functions and layers that move elements: patches, pixels, channels, sizes, bags; and lazy layers."""

import torch
import torch.nn.functional as F
from torch import nn


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


image = torch.sin(torch.arange(16.0)).reshape(1, 1, 4, 4).requires_grad_()
columns = F.unfold(image, 2)
folded = F.fold(columns, (4, 4), 2)
print(folded)
(folded * image.detach()).sum().backward()
print(image.grad)
print(F.interpolate(image, scale_factor=0.5, mode="bilinear", align_corners=False))
print(F.interpolate(image, size=(3, 5), mode="bilinear", align_corners=True), F.interpolate(image, 2).grad_fn.name())
print(nn.UpsamplingBilinear2d(scale_factor=2)(image[..., :2, :2]), nn.Upsample(scale_factor=2))
grid = F.affine_grid(
    torch.tensor([[[0.5, 0.1, 0.2], [-0.1, 0.8, 0.0]]], requires_grad=True), (1, 1, 2, 2), align_corners=False
)
sampled = F.grid_sample(image, grid, align_corners=False)
print(grid, sampled, F.grid_sample(image, 3 * grid, mode="nearest", padding_mode="border", align_corners=True))
print(torch.autograd.grad(sampled.sum(), (image, grid)))
largest, places = F.max_pool2d(image, 2, return_indices=True)
print(largest, places, F.max_unpool2d(largest, places, 2))
print(F.pixel_unshuffle(image, 2), F.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten())
bags = F.embedding_bag(torch.tensor([0, 1, 1, 2]), torch.arange(6.0).reshape(3, 2), torch.tensor([0, 3]), mode="sum")
print(bags, nn.EmbeddingBag(10, 3), F.pdist(torch.eye(3)), F.lp_pool2d(image.abs(), 2, 2))
print(F.local_response_norm(torch.ones(1, 3, 1, 1), 2).flatten(), F.rrelu(torch.tensor([-1.0, 1.0])))
around = filled(nn.Conv1d(1, 1, 3, padding=1, padding_mode="circular"))
print(around, around(torch.arange(4.0).reshape(1, 1, 4)))
lazy = nn.Sequential(nn.LazyConv2d(2, 3), nn.Flatten(), nn.LazyLinear(2))
optimizer = torch.optim.SGD(lazy.parameters(), lr=0.1)
print(lazy)
lazy(image)
filled(lazy)
print(lazy, lazy(image))
lazy(image).sum().backward()
optimizer.step()
print(lazy[2].bias)
