# expect: GT309
# cause: the state is written into rows of a buffer that matmul and tanh of earlier steps have saved
# wrong: raises RuntimeError
# cure: states[t + 1] = torch.tanh(states[t] @ W + inputs[t])  # <- here -> states.append(torch.tanh(states[t] @ W + inputs[t]))
# cure: states = torch.zeros(steps + 1, 4) -> states = [torch.zeros(4)]
import torch

torch.manual_seed(0)
steps = 6
inputs = torch.randn(steps, 4)
W = (0.5 * torch.randn(4, 4)).requires_grad_()


def run_recurrence():
    states = torch.zeros(steps + 1, 4)
    for t in range(steps):
        states[t + 1] = torch.tanh(states[t] @ W + inputs[t])  # <- here
    return states[steps]


final = run_recurrence()
loss = (final - 0.3).pow(2).sum()
loss.backward()  # <- asked
print(W.grad)
