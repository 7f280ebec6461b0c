# expect: GT208 or GT309 or GT314 or GT201
# cause: the features were computed in inference mode, and such tensors may not be saved for a backward pass
# wrong: raises RuntimeError
# cure: @torch.inference_mode() -> @torch.no_grad()
import torch
from torch import nn

torch.manual_seed(0)
backbone, probe = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 4)


@torch.inference_mode()  # <- here
def extract(x):
    return backbone(x)


features = [extract(torch.randn(10, 8)) for _ in range(3)]  # <- here
labels = [torch.randint(0, 4, (10,)) for _ in range(3)]
opt = torch.optim.SGD(probe.parameters(), lr=0.1)
for x, y in zip(features, labels):
    loss = nn.functional.cross_entropy(probe(x), y)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
