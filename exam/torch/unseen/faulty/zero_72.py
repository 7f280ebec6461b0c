# expect: GT404 or GT209 or GT201
# cause: the histogram of the image is made with floor, whose derivative is zero everywhere
# wrong: not contrast.grad.any()
# cure: torch.floor(bins) -> bins
import torch

torch.manual_seed(0)
pixels = torch.rand(200)
contrast = torch.tensor(1.3, requires_grad=True)


def quantised(c):
    bins = (pixels * c).clamp(0, 2) * 10
    return torch.floor(bins) / 10  # <- here


target = (pixels * 0.8).mean()
loss = (quantised(contrast).mean() - target) ** 2
loss.backward()  # <- asked
print(contrast.grad)  # <- asked
