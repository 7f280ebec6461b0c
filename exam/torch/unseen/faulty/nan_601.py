# expect: GT401
# cause: the entropy takes the logarithm of an attention weight that is exactly 0 where the mask forbids it
# wrong: bool(entropy.isnan())
# cure: (weights * weights.log()) -> (weights * weights.clamp(min=1e-9).log())
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, mask):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return weights @ self.value(x), weights


def attention_entropy(weights):
    return -(weights * weights.log()).sum(dim=-1).mean()  # <- here


torch.manual_seed(0)
attention = Attention(8)
optimizer = torch.optim.Adam(attention.parameters(), lr=1e-3)
causal = torch.ones(6, 6, dtype=torch.bool).tril()
for step in range(3):
    x = torch.randn(4, 6, 8)
    mixed, weights = attention(x, causal)
    entropy = attention_entropy(weights)
    loss = (mixed - x).square().mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
