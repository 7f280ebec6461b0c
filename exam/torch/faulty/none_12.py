# expect: GT201 or GT202 or GT305 because GT202
# cause: the gradient is asked of the normalised input, a tensor that the loss was not computed from
# wrong: raises RuntimeError
# cure: model(image) -> model(image_norm)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(27, 10), nn.ReLU(), nn.Linear(10, 4))
image = torch.rand(1, 3, 3, 3)
image_norm = ((image - 0.5) / 0.25).requires_grad_()  # <- here

score = model(image)[0].max()  # <- here
(saliency,) = torch.autograd.grad(score, image_norm)  # <- asked
print(saliency.abs().amax(dim=1))
