"""LSTMs whose hidden state is projected: parameters, shapes, values and gradients."""

import torch
from torch import nn


def layer(**options):
    made = nn.LSTM(3, 4, **options)
    with torch.no_grad():
        for number, parameter in enumerate(made.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape).add(number).sin() * 0.5)
    return made


x = torch.arange(30.0).reshape(5, 2, 3).cos().requires_grad_()
for options in (
    {"proj_size": 2},
    {"proj_size": 2, "num_layers": 2},
    {"proj_size": 2, "bidirectional": True},
    {"proj_size": 3, "batch_first": True, "bias": False},
    {"proj_size": 2, "num_layers": 2, "bidirectional": True},
):
    lstm = layer(**options)
    print(lstm, [(name, tuple(parameter.shape)) for name, parameter in lstm.named_parameters()])
    x.grad = None
    output, (h, c) = lstm(x)
    (output.sum() + h.sum() * 2 + c.sum()).backward()
    print(output.shape, h.shape, c.shape, output.sum(), h.sum(), c.sum())
    print(x.grad.abs().sum(), lstm.weight_hr_l0.grad, lstm.weight_hh_l0.grad.sum())
    output, state = lstm(x, (h.detach(), c.detach()))
    print(output.sum(), lstm(x[:, 0])[0].sum(), lstm.proj_size)

lstm = layer(proj_size=2)
output, (h, c) = lstm(nn.utils.rnn.pack_padded_sequence(x.detach(), [5, 3]))
print(output.data.shape, output.data.sum(), h, c)

for attempt in (
    lambda: nn.LSTM(3, 4, proj_size=4),
    lambda: nn.LSTM(3, 4, proj_size=-1),
    lambda: nn.GRU(3, 4, proj_size=2),
    lambda: nn.RNN(3, 4, proj_size=2),
    lambda: lstm(x, (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))),
):
    try:
        attempt()
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__)
