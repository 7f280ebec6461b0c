"""Encoders, decoders and masks."""

import torch
from torch import nn


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


source = torch.sin(torch.arange(40.0)).reshape(2, 5, 4)
target = torch.cos(torch.arange(24.0)).reshape(2, 3, 4)
options = {"d_model": 4, "nhead": 2, "dim_feedforward": 8, "dropout": 0.0, "batch_first": True}
decoder_layer = filled(nn.TransformerDecoderLayer(**options))
print(decoder_layer(target, source))
print(decoder_layer)
first = filled(nn.TransformerDecoderLayer(**options, norm_first=True, activation="gelu"))
print(first(target, source)[0])
causal = nn.Transformer.generate_square_subsequent_mask(3)
print(causal)
decoder = nn.TransformerDecoder(decoder_layer, num_layers=2, norm=nn.LayerNorm(4))
print(decoder(target, source, tgt_mask=causal)[0])
model = filled(nn.Transformer(**options, num_encoder_layers=1, num_decoder_layers=1))
padding = torch.tensor([[False, False, False, True, True], [False, False, True, True, True]])
result = model(source, target, tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding)
print(result)
result.pow(2).sum().backward()
print(model.encoder.layers[0].linear1.weight.grad[0], model.decoder.layers[0].multihead_attn.in_proj_bias.grad)
print(len(list(model.parameters())), [name for name, _ in model.named_parameters()][:6])
