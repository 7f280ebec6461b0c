"""`torch.utils.data`: datasets, and batches of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape_standins.missing_names import missing
from gradtape_standins.torch import creation, dtypes
from gradtape_standins.torch.joining import stack
from gradtape_standins.torch.module_aliases import modules_of
from gradtape_standins.torch.random import Generator, numpy_generator
from gradtape_standins.torch.tensor import Tensor

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "get_worker_info",
    "random_split",
]


class Dataset:
    """Examples by number: have a `__getitem__`, and a `__len__`."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])

    def _length(self) -> int:
        if not hasattr(self, "__len__"):
            raise TypeError(f"{type(self).__name__} has no length.\n  fix: def __len__(self) that returns it")
        return len(self)


class IterableDataset(Dataset):
    """Examples one after the other: have an `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """The rows of tensors of one length."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise AssertionError(
                f"Size mismatch between tensors: the lengths are {[len(tensor) for tensor in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        for dataset in self.datasets:
            if place < len(dataset):
                return dataset[place]
            place -= len(dataset)
        raise IndexError(f"index {index} of {len(self)} examples")


class Subset(Dataset):
    """Some examples of a dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[Any], generator: Generator | None = None) -> list[Subset]:
    """A dataset in parts of these lengths (or shares), its examples in random order."""
    total = len(dataset)
    if sum(lengths) <= 1 and all(isinstance(length, float) for length in lengths):
        counts = [int(total * share) for share in lengths]
        for place in range(total - sum(counts)):
            counts[place % len(counts)] += 1
        lengths = counts
    if sum(lengths) != total:
        raise ValueError(f"Sum of input lengths ({sum(lengths)}) does not equal the length of the dataset ({total})")
    order = numpy_generator(generator).permutation(total).tolist()
    starts = np.cumsum([0, *lengths])
    return [Subset(dataset, order[start:stop]) for start, stop in itertools.pairwise(starts)]


# -- which examples, in which order


class Sampler:
    """Numbers of examples: have an `__iter__`."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """One after the other."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """In random order, or drawn with replacement."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        self.replacement, self.generator = replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples

    def __iter__(self) -> Iterator[int]:
        draw, count = numpy_generator(self.generator), len(self.data_source)
        numbers = draw.integers(0, count, self.num_samples) if self.replacement else draw.permutation(count)
        return iter(numbers[: self.num_samples].tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some examples, in random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        super().__init__()
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = numpy_generator(self.generator).permutation(len(self.indices))
        return iter([self.indices[place] for place in order])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Drawn with weights."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        super().__init__()
        self.weights = np.asarray(weights, float)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        shares = self.weights / self.weights.sum()
        draw = numpy_generator(self.generator).choice
        return iter(draw(len(shares), self.num_samples, self.replacement, shares).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """The numbers of a sampler in lists."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__()
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return _batched(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count, size = len(self.sampler), self.batch_size
        return count // size if self.drop_last else -(-count // size)


def _batched(items: Iterable[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def default_collate(batch: Sequence[Any]) -> Any:
    """Examples put together: tensors and numbers along a first axis, structures part by part."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, (np.ndarray, np.generic)):
        return creation.tensor(np.stack(batch))
    if isinstance(first, float):
        return creation.tensor(list(batch), dtype=dtypes.float64)
    if isinstance(first, (bool, int)):
        return creation.tensor(list(batch))
    if isinstance(first, Mapping):
        return {key: default_collate([example[key] for example in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch, strict=True)))
    if isinstance(first, (list, tuple)):
        return [default_collate(part) for part in zip(*batch, strict=True)]
    if isinstance(first, (str, bytes)):
        return list(batch)
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


class DataLoader:
    """Batches of a dataset, anew with every loop over it.

    >>> from gradtape_standins import torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(5))
    >>> [batch[0].tolist() for batch in torch.utils.data.DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        **_: Any,
    ) -> None:
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.collate_fn = collate_fn or default_collate
        self._iterable = isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")
        if not self._iterable and sampler is None:
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler

    def __iter__(self) -> Iterator[Any]:
        if self._iterable:
            if self.batch_size is None:
                yield from self.dataset
                return
            for batch in _batched(self.dataset, self.batch_size, self.drop_last):
                yield self.collate_fn(batch)
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield self.dataset[index]
        else:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in indices])

    def __len__(self) -> int:
        if self.batch_sampler is None:
            return len(self.sampler)
        return len(self.batch_sampler)


def get_worker_info() -> None:
    """None: data are loaded by the process itself."""


class StackDataset(Dataset):
    """Examples that are tuples (or dicts) of examples of other datasets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: datasets by position, or by name")
        self.datasets: Any = args or kwargs
        lengths = {len(dataset) for dataset in (args or kwargs.values())}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._count = lengths.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._count


class ChainDataset(IterableDataset):
    """Iterable datasets one behind the other."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = datasets

    def __iter__(self) -> Any:
        for dataset in self.datasets:
            yield from dataset


globals().update(modules_of(__name__))
__getattr__ = missing(__name__)
