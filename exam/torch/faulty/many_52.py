# expect: GT307
# cause: the model's output of all images is walked back from, where the score of one class was meant
# wrong: raises RuntimeError
# cure: output.backward()  # <- here -> output[torch.arange(3), output.argmax(dim=1)].sum().backward()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5))
model.eval()
images = torch.rand(3, 3, 8, 8, requires_grad=True)

output = model(images)  # <- here
output.backward()  # <- here
saliency = images.grad.abs().max(dim=1).values
print(saliency.shape)
