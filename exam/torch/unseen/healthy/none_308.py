import torch
from torch import nn

torch.manual_seed(0)
vgg = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU())
for parameter in vgg.parameters():
    parameter.requires_grad_(False)
features = {}


def keep(name):
    def hook(module, inputs, output):
        features[name] = output

    return hook


vgg[1].register_forward_hook(keep("first"))
vgg[3].register_forward_hook(keep("second"))


def gram(name):
    flat = features[name].flatten(2)
    return flat @ flat.transpose(1, 2) / flat.shape[-1]


image = torch.rand(1, 3, 12, 12, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.02)
for _ in range(3):
    vgg(image)
    style = sum(gram(name).square().mean() for name in features)
    opt.zero_grad()
    style.backward()
    opt.step()
assert image.grad is not None
