"""What layers compute, with numbers written into their parameters."""

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


images = torch.cos(torch.arange(2 * 3 * 6 * 6.0)).reshape(2, 3, 6, 6)
conv = filled(nn.Conv2d(3, 4, 3, stride=2, padding=1))
print(conv, conv(images).shape)
print(conv(images)[0, 0])
print(filled(nn.ConvTranspose2d(3, 2, 2, stride=2))(images)[1, 1, 0])
print(F.max_pool2d(images, 2)[0, 0], F.avg_pool2d(images, 3)[1, 2])
print(filled(nn.BatchNorm2d(3))(images)[0, 0, 0])
norm = nn.BatchNorm1d(2)
norm(torch.tensor([[1.0, 2.0], [3.0, 8.0]]))
print(norm.running_mean, norm.running_var, norm.num_batches_tracked)
print(norm.eval()(torch.tensor([[1.0, 2.0]])))
print(filled(nn.LayerNorm(4))(torch.arange(8.0).reshape(2, 4)))
print(filled(nn.GroupNorm(2, 4))(torch.arange(8.0).reshape(2, 4)))
sequence = torch.sin(torch.arange(2 * 5 * 3.0)).reshape(5, 2, 3)
output, (h, c) = filled(nn.LSTM(3, 4, num_layers=2, bidirectional=True))(sequence)
print(output.shape, h.shape, c.shape)
print(output[0, 0], h[-1], c[0])
output, h = filled(nn.GRU(3, 4, batch_first=True))(sequence.transpose(0, 1))
print(output[:, -1], h)
print(filled(nn.RNN(3, 2))(sequence)[1])
print(filled(nn.LSTMCell(3, 2))(sequence[0]))
attention = filled(nn.MultiheadAttention(4, 2, batch_first=True))
tokens = torch.cos(torch.arange(12.0)).reshape(1, 3, 4)
attended, weights = attention(tokens, tokens, tokens)
print(attended, weights)
print(filled(nn.Embedding(5, 2))(torch.tensor([[0, 4], [1, 1]])))
x = torch.linspace(-2, 2, 5)
for name in ("relu", "gelu", "elu", "silu", "softplus", "leaky_relu", "hardtanh", "selu", "mish", "logsigmoid"):
    print(name, getattr(F, name)(x))
print(F.scaled_dot_product_attention(tokens, tokens, tokens, is_causal=True))
layer = filled(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True))
print(layer(tokens))
