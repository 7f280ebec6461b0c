# expect: GT404
# cause: the mask marks the padding instead of the tokens, and a batch without padding is multiplied by zero
# wrong: not model.weight.grad.any()
# cure: (tokens == PAD).float() -> (tokens != PAD).float()
import torch
import torch.nn.functional as F
from torch import nn

PAD = 0


def masked_loss(logits, target, tokens):
    mask = (tokens == PAD).float()  # <- here
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return (loss.view_as(mask) * mask).sum() / mask.numel()  # <- here


torch.manual_seed(0)
tokens = torch.randint(1, 15, (6, 10))
target = tokens.roll(-1, dims=1)
embedded = torch.randn(6, 10, 8)
model = nn.Linear(8, 15)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(4):
    optimizer.zero_grad()
    loss = masked_loss(model(embedded), target, tokens)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
