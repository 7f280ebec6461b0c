# expect: GT114
# cause: 50 tokens of 24 features are split into 5 heads, and 24 is no multiple of 5
# wrong: raises RuntimeError
# cure: HEADS = 5 -> HEADS = 4
import torch
from torch import nn

HEADS = 5  # <- here


def split_heads(t):
    batch, length, width = t.shape
    return t.view(batch, length, HEADS, width // HEADS).transpose(1, 2)  # <- here


torch.manual_seed(0)
to_qkv = nn.Linear(24, 72, bias=False)
tokens = torch.randn(2, 50, 24)
q, k, v = (split_heads(part.contiguous()) for part in to_qkv(tokens).chunk(3, dim=-1))
mixed = nn.functional.scaled_dot_product_attention(q, k, v)
mixed.pow(2).mean().backward()
