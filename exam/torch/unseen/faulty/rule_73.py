# expect: GT304
# cause: setup_context is used, and backward forgets the None for the number of steps
# wrong: raises RuntimeError
# cure: return g * ctx.steps * base ** (ctx.steps - 1) -> return g * ctx.steps * base ** (ctx.steps - 1), None
import torch


class Compound(torch.autograd.Function):
    @staticmethod
    def forward(base, steps):
        return base**steps

    @staticmethod
    def setup_context(ctx, inputs, output):
        base, ctx.steps = inputs
        ctx.save_for_backward(base)

    @staticmethod
    def backward(ctx, g):
        (base,) = ctx.saved_tensors
        return g * ctx.steps * base ** (ctx.steps - 1)  # <- here


rate = torch.tensor([1.01, 1.02, 1.05], requires_grad=True)
value = Compound.apply(rate, 12)  # <- asked
(value - torch.tensor([1.1, 1.2, 1.9])).square().sum().backward()  # <- asked
