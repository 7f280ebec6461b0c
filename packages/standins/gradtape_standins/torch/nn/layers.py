"""Dense layers and tables: gradtape's layers say which parameters there are and how they start."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape import nn as ours
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.nn import functional as F
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.tensor import Tensor, wrap


def adopt(module: Module, layer: ours.Module, dtype: Any = None) -> None:
    """Give `module` the parameters of gradtape's `layer`, with numbers drawn from the common generator."""
    kind = dtypes.as_numpy(dtype) or dtypes.default()
    for path, inner in layer.named_modules():
        holder = module._at(path)
        for name, declared in inner._declared.items():
            array = declared.initialiser(numpy_generator(), declared.shape, kind)
            holder.register_parameter(name, Parameter(wrap(Value(np.asarray(array, kind)))))


class Linear(Module):
    """input @ weight.T + bias."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        with translating():
            adopt(self, ours.Linear(in_features, out_features, bias), dtype)
        if not bias:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Fresh numbers."""
        _redraw(self, ours.Linear(self.in_features, self.out_features, self.bias is not None))

    def forward(self, input: Any) -> Any:
        """`F.linear`; raises with an edit if the last axis of the input is not `in_features` long."""
        shape = input.shape if isinstance(input, Tensor) else ()
        if shape and shape[-1] != self.in_features == self.weight.shape[-1]:
            with translating():
                raise ours.Linear._refused(self, tuple(shape))  # type: ignore[arg-type]
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The numbers of features, and whether there is a bias."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _redraw(module: Module, layer: ours.Module) -> None:
    for name, declared in layer._declared.items():
        held = getattr(module, name)
        array = declared.initialiser(numpy_generator(), declared.shape, held._value.dtype)
        held.detach().copy_(wrap(Value(np.asarray(array))))


class EmbeddingBag(Module):
    """The sums (or means, or maxima) of rows of `weight` at integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq:
            raise NotImplementedError("EmbeddingBag: max_norm and scale_grad_by_freq are not in the stand-in")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.mode, self.include_last_offset = mode, include_last_offset
        with translating():
            adopt(self, ours.Embedding(num_embeddings, embedding_dim, padding_idx), options.get("dtype"))

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """The sum, mean or maximum of the rows of each bag of labels."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The size of the table, the mode, and the label that is left out."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}{padding}"


class Bilinear(Module):
    """input1 @ weight[out] @ input2 + bias."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        with translating():
            adopt(self, ours.Bilinear(in1_features, in2_features, out_features, bias), options.get("dtype"))
        if not bias:
            self.register_parameter("bias", None)

    def forward(self, input1: Any, input2: Any) -> Any:
        """`F.bilinear` with the weight and bias of the layer."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The numbers of features of both inputs and of the output, and whether there is a bias."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """The rows of `weight` at integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} of {num_embeddings}")
        if scale_grad_by_freq:
            raise NotImplementedError("Embedding: scale_grad_by_freq is not in the stand-in")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        with translating():
            adopt(self, ours.Embedding(num_embeddings, embedding_dim, padding_idx), options.get("dtype"))

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """A table that is given; not trained, unless `freeze=False`."""
        made = cls(embeddings.shape[0], embeddings.shape[1], padding_idx)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def forward(self, input: Any) -> Any:
        """The row of the table for each label; with `max_norm`, rows are scaled down first."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        """The size of the table, and the options that are set."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        limit = "" if self.max_norm is None else f", max_norm={self.max_norm}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}{limit}"
