"""What PyTorch's messages mean: the code, the cause in words, and what to do.

A row has a pattern, whose named groups may be used in the words. Rows are tried in their order.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Row(NamedTuple):
    """A message of PyTorch and its meaning."""

    pattern: re.Pattern[str]
    code: str
    title: str
    fixes: tuple[str, ...]
    consequence: str = ""


ROWS: list[Row] = []


def _row(pattern: str, code: str, title: str, *fixes: str, consequence: str = "") -> None:
    ROWS.append(Row(re.compile(pattern, re.DOTALL), code, title, fixes, consequence))


# -- writes and modes of autograd

_row(
    r"(?P<name>\w+)\(\): functions with out=\.\.\. arguments don't support automatic differentiation",
    "GT309",
    "{name} writes its result into out=, and an operand requires a gradient: a write into a given tensor is not "
    "recorded",
    "the result as a new tensor: y = torch.{name}(...); out= is for computations in torch.no_grad()",
)
_row(
    r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside InferenceMode"
    r"|Setting requires_grad=True on inference tensor",
    "GT208",
    "a tensor that was computed in inference_mode is used where a gradient is needed, which it cannot be",
    "torch.no_grad() instead of torch.inference_mode() where it is computed; or .clone() of it outside",
    consequence="tensors of inference_mode keep no versions, so that autograd cannot save them",
)
_row(
    r"Can't detach views in-place",
    "GT309",
    "detach_() of a view: the tensor that it is a part of would lose its history too",
    "x = x.detach(), which makes a new tensor",
)
_row(
    r"you can only change requires_grad flags of leaf variables",
    "GT205",
    "requires_grad is set on a computed tensor: it follows from what the tensor was computed from",
    "x = x.detach() cuts the gradient here; requires_grad_(False) for the parameters of a layer freezes the layer",
)
_row(
    r"unsupported operation: (some elements of the input tensor and the written-to tensor|more than one element of)",
    "GT309",
    "the tensor that is written to shares memory with what is read",
    "x.clone() before the write",
)

# -- gradients that cannot be computed

_row(
    r"grad can be (implicitly )?created only for real scalar outputs but got (torch\.)?(?P<kind>\w+)",
    "GT307",
    "backward of a complex number ({kind}): a gradient is of one real number",
    "a real loss: (z * z.conj()).real.mean(), z.abs().square().mean(), or z.real",
)
_row(
    r"Expected f\(\*args\) to return a scalar [Tt]ensor, got tensor with (?P<axes>\d+) dims",
    "GT307",
    "the function that is differentiated returns a tensor with {axes} axes, and a gradient is of one number",
    "return the mean or the sum: loss.mean(); torch.func.jacrev for the derivative of each element; "
    "vmap(grad(f)) for the gradient of each example",
)
_row(
    r"Expected (f|func)\(\*args\) to return (a [Tt]ensor|Tensors?).*got (type|unsupported type)",
    "GT311",
    "the function that is differentiated returns no tensor",
    "return the loss as a tensor: not loss.item(), nor a tuple unless has_aux=True",
)
_row(
    r"the derivative for '?(?P<name>[\w:.]+)'? is not implemented|derivative for (?P<other>\S+) is not implemented",
    "GT313",
    "PyTorch has no derivative for this operation: {words}",
    "an operation with a derivative in its place; or .detach() if no gradient is to pass",
)
_row(
    r"trying to differentiate twice a function that was marked with @?once_differentiable",
    "GT313",
    "a second derivative is asked of a function whose backward is marked with once_differentiable",
    "a backward that is written with operations of torch, without once_differentiable, can be differentiated again",
)
_row(
    r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(?P<seed>.*?)\]\) and output\[\d+\] has a "
    r"shape of torch\.Size\(\[(?P<shape>.*?)\]\)",
    "GT301",
    "the gradient to begin with has shape ({seed}), and the output has shape ({shape})",
    "a weight for each element of the output: torch.ones_like(output)",
)
_row(
    r"Expected primal and tangent to have the same shape|Expected primals and tangents to have the same|"
    r"[Ee]xpected (?P<what>\w+) .*to have the same (shape|size) as (the )?output|tangent.*to have the same shape",
    "GT301",
    "the tangent or cotangent does not have the shape of what it belongs to",
    "a tangent for each primal, of its shape and dtype: torch.ones_like(x); a cotangent for each output",
)
_row(
    r"jvp\(.*\): Expected|vjp\(.*\): Expected|(primals|tangents|cotangents).*structure",
    "GT301",
    "tangents and primals, or cotangents and outputs, have to be alike: {words}",
    "tuples of the same length with tensors of the same shapes: jvp(f, (x,), (v,))",
)

_row(
    r"got (?P<targets>\d+) tensors and (?P<seeds>\d+) gradients",
    "GT301",
    "{targets} tensors are walked back with {seeds} gradients to begin with",
    "one for each: torch.autograd.backward([a, b], [torch.tensor(1.0), torch.tensor(0.5)]); or the sum of the losses",
)
_row(
    r"nly Tensors of floating point",
    "GT310",
    "a gradient is asked of a tensor of integers: only floating point numbers have one",
    "argnums= counts the arguments from 0; x.float() for numbers that are to be differentiated",
)

# -- torch.func

_row(
    r"vmap: It looks like you're calling \.item\(\)",
    "GT314",
    "item() inside vmap: the tensor stands for all examples at once, and has no one number",
    "compute with the tensor itself, without .item(), float() or int()",
    consequence="outside of vmap it would also cut the gradient",
)
_row(
    r"vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow",
    "GT314",
    "an if or while inside vmap asks a tensor that stands for all examples at once",
    "torch.where(condition, a, b) chooses for each example",
)
_row(
    r"vmap: inplace arithmetic|vmap: .*is not possible because there exists a Tensor",
    "GT309",
    "a write in place inside vmap: what is written has one value for each example, and the tensor that is written to "
    "has only one for all",
    "x = x + y instead of x += y; or a tensor that depends on the example: x = torch.zeros_like(y)",
)
_row(
    r"vmap: called random operation while in randomness error mode",
    "GT314",
    "a random operation, such as dropout, inside vmap",
    'vmap(f, randomness="different") draws for each example, randomness="same" once for all; or model.eval()',
)
_row(
    r"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes (?P<sizes>\[.*?\])",
    "GT110",
    "vmap goes through axes of different lengths: {sizes}",
    "in_dims= says which axis of each argument is that of the examples, None for what all share",
)
_row(
    r"[Gg]ot in_dim=(?P<axis>\S+) for",
    "GT117",
    "vmap is told to go through axis {axis} of an argument that does not have it",
    "in_dims=None for arguments that all examples share, and for numbers",
)
_row(
    r"vmap\(.*must only return Tensors, got type (?P<kind>.*?)[.,]",
    "GT311",
    "the function inside vmap returns {kind}, not a tensor",
    "return tensors: no .item(), no None",
)

# -- hooks, .grad and rules

_row(
    r"assigned grad has data of a different (size|shape)|attempting to assign a gradient of size",
    "GT302",
    ".grad is given a tensor of another shape than its parameter has",
    "a gradient has the shape of its parameter: p.grad = g.view_as(p), or a sum over the axes that are too many",
)
_row(
    r"assigned grad has data (of|located on) a different (type|device)|attempting to assign a gradient with dtype",
    "GT303",
    ".grad is given a tensor of another dtype or device than its parameter has",
    "p.grad = g.to(p)",
)
_row(
    r"Legacy autograd function with non-static forward method is deprecated",
    "GT314",
    "forward and backward of an autograd.Function are static methods, and it is called by apply",
    "@staticmethod above forward(ctx, x) and backward(ctx, grad_output), and Class.apply(x) instead of Class()(x)",
)
_row(
    r"(No backward pass|Recomputed values for the following tensors have different metadata"
    r"|A different number of tensors was saved during the original forward and recomputation)",
    "GT314",
    "the checkpointed function computed something else when it was called again for the backward pass",
    "nothing that a checkpointed function reads may change between both calls: counters, flags, modes, random numbers",
)
_row(
    r"none of the inputs? ha(s|ve) requires_grad=True|None of the inputs have requires_grad=True",
    "GT203",
    "a checkpoint is given nothing that requires a gradient, so that its output has none",
    "use_reentrant=False",
)

# -- modules and optimisers

_row(
    r"cannot assign (module|parameters?|buffers?)( \S+)? before Module\.__init__\(\) call",
    "GT314",
    "a layer is assigned before super().__init__() was called, which makes the tables that a module keeps them in",
    "super().__init__() as the first line of __init__",
)
_row(
    r"cannot assign '(?P<kind>[\w.]+)'( object)? (as|to) (parameter|module|child module) '(?P<name>\w+)'",
    "GT314",
    "{name} is a parameter or layer of the module, and is assigned a {kind}: a computed tensor cannot take its place",
    "share the parameter itself: a.weight = b.weight; compute with the tensor: F.linear(x, weight); new values of a "
    "parameter: with torch.no_grad(): p.copy_(values)",
)
_row(
    r"some parameters appear in more than one parameter group",
    "GT314",
    "a parameter is in two groups of the optimiser",
    "each parameter once: the rest is [p for p in model.parameters() if id(p) not in {{id(q) for q in first}}]",
)
_row(
    r"optimizer contains a parameter group with duplicate parameters|parameter group didn't specify a value",
    "GT314",
    "{words}",
    "each parameter once: list(dict.fromkeys(parameters))",
)
_row(
    r"params argument given to the optimizer should be an iterable of Tensors or dicts, but got (?P<kind>[\w.]+)",
    "GT314",
    "the optimiser is given one tensor ({kind}), and takes a list of them",
    "[tensor], or model.parameters()",
)
_row(
    r"optimizer can only optimize Tensors, but one of the params is (?P<kind>.+)",
    "GT314",
    "the optimiser is given {kind}, and takes tensors",
    "model.parameters(), not named_parameters() or a list of layers: "
    "[p for layer in layers for p in layer.parameters()]",
)
_row(
    r"No inf checks were recorded for this optimizer",
    "GT512",
    "GradScaler.step: none of the optimiser's parameters has a gradient",
    "scaler.scale(loss).backward() before scaler.step(optimizer), of a loss that is computed from the parameters of "
    "this optimiser",
)
_row(
    r"unscale_\(\) (has already been called|is being called after step)|step\(\) has already been called since",
    "GT314",
    "GradScaler: {words}",
    "unscale_, step and update once each, in this order, for every backward pass",
)
_row(
    r"forward\(\) (missing \d+ required positional|takes (from )?\d+ .*positional arguments? but \d+"
    r"|got an unexpected)",
    "GT314",
    "a layer is called with other arguments than its forward takes: {words}",
    "the arguments of forward, without self",
)

# -- shapes of data

_row(
    r"stack expects each tensor to be equal size, but got (?P<one>\[.*?\]) at entry 0 and (?P<two>\[.*?\]) at entry",
    "GT113",
    "tensors of different shapes are put into one batch: {one} and {two}",
    "torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True) fills up with zeros; in a DataLoader as its collate_fn",
)
_row(
    r"zero-dimensional tensor \(at position \d+\) cannot be concatenated",
    "GT113",
    "cat joins along an axis that is there, and numbers have none",
    "torch.stack(tensors) makes the axis",
)
_row(
    r"expected a non-empty list of Tensors|stack expects a non-empty TensorList",
    "GT113",
    "there is nothing to join: the list is empty",
    "look at what should have filled the list; leave the batch out if it has nothing",
)
_row(
    r"lengths.*(sorted in decreasing order|decreasing order when `?enforce_sorted`?)",
    "GT314",
    "pack_padded_sequence takes the sequences from the longest to the shortest, unless it is told to sort them",
    "enforce_sorted=False",
)
_row(
    r"Length of all samples has to be greater than 0",
    "GT314",
    "a sequence of length 0 is packed",
    "leave empty sequences out, or lengths.clamp(min=1)",
)
_row(
    r"The shape of the (2D|3D) attn_mask is (?P<given>.*?),? but should be (?P<wanted>.*?)\.?$"
    r"|[Kk]ey_padding_mask.*expected.*shape|key_padding_mask shape .*",
    "GT116",
    "the mask of the attention does not have the shape that it needs: {words}",
    "a mask of (queries, keys) for all examples; key_padding_mask is (examples, keys)",
)
_row(
    r"embed_dim must be divisible by num_heads|must be divisible by",
    "GT314",
    "{words}",
    "a width that is a multiple of the number of heads or groups",
)
_row(
    r"batch[12] must be a 3D tensor|self must be a matrix|mat2 must be a matrix|1D tensors expected"
    r"|must be a (1-?D|2-?D)",
    "GT111",
    "this product takes another number of axes: {words}",
    "torch.matmul (@) takes any number of axes; mm takes matrices, bmm stacks of them, dot and mv vectors",
)
_row(
    r"a Tensor with (?P<count>\d+) elements cannot be converted to Scalar|only one element tensors can be converted",
    "GT307",
    "one number is asked of a tensor with several",
    "a mean or a sum before: loss.mean().item(); .tolist() for all of them",
)
_row(
    r"Boolean value of Tensor with no values is ambiguous",
    "GT314",
    "yes or no is asked of a tensor without elements",
    "tensor.numel() > 0 asks whether there are any",
)
_row(
    r"tensors used as indices must be|[Ii]ndex(es)? tensor must .*(dtype|same number)|expected dtype int64 for index"
    r"|Expected index .* to be (smaller|no larger) than|index is supposed to|scatter.*: Expected",
    "GT115",
    "an index does not fit: {words}",
    "integers (.long()), with as many axes as what is indexed by gather and scatter",
)
_row(
    r"expand\(.*\): the expanded size of the tensor|The expanded size of the tensor .* must match",
    "GT110",
    "expand repeats axes of length 1 only: {words}",
    "repeat or repeat_interleave copies; unsqueeze(dim) adds the axis that is to be repeated",
)
_row(
    r"size mismatch \(got input: \[(?P<input>.*?)\], target: \[(?P<target>.*?)\]\)"
    r"|Expected input batch_size \((?P<n>\d+)\) to match target batch_size \((?P<m>\d+)\)",
    "GT118",
    "the input and the labels of the loss do not belong together: {words}",
    "logits of shape (examples, classes) and labels of shape (examples,)",
)
_row(
    r"Expected all tensors to be on the same device",
    "GT314",
    "tensors on different devices: {words}",
    "x.to(device) for the data, model.to(device) before the optimiser is made",
)

# -- numbers

_row(
    r"(cholesky|factorization) .*not positive-definite|not positive.definite",
    "GT405",
    "the matrix is not positive definite, so that it has no Cholesky factor",
    "a small number on the diagonal: K + 1e-6 * torch.eye(n); double precision; a matrix that is symmetric",
    consequence="two equal rows, such as those of a point that occurs twice, make a kernel matrix singular",
)
_row(
    r"(singular|The diagonal element \d+ is zero)",
    "GT405",
    "the matrix is singular: it has no inverse, and the equation no one solution",
    "torch.linalg.lstsq or pinv for such matrices; a small number on the diagonal: A + 1e-6 * torch.eye(n)",
)
_row(
    r"linalg\.\w+:.*(failed to converge|ill-conditioned|too many repeated)",
    "GT405",
    "the decomposition did not converge: equal eigenvalues, or numbers that are too far apart",
    "double precision; a small number on the diagonal; look whether the matrix is finite",
)
_row(
    r"var has negative entry",
    "GT509",
    "gaussian_nll_loss takes variances, and some are negative",
    "torch.nn.functional.softplus(raw) + 1e-6, or raw.exp() for a network that gives the logarithm",
)
_row(
    r"var is of incorrect size",
    "GT118",
    "the variances of gaussian_nll_loss have the shape of the input, or one for each example",
    "var of the shape of the input",
)
_row(
    r"Expected value argument .* to be within the support",
    "GT509",
    "log_prob of a value that the distribution cannot have",
    "values of the support: labels that are 0 or 1 for Bernoulli, class numbers for Categorical, positive ones for "
    "Gamma; clamp(1e-6, 1 - 1e-6) for Beta",
)


__all__ = ["ROWS", "Row"]
