"""Shards: `on=gd.Shards()`, for passes on more workers than one scheduler can deal tasks to.

Each worker of a cluster holds an actor with a share of the chunks. A pass is one call of the first actor, which hands
it on to others, those to further ones, and computes its own chunks meanwhile; sums of subtrees come back the same way.
So the scheduler is asked for nothing during a pass, and the client exchanges one message. When a worker is lost, the
chunks are dealt out anew and the pass is repeated; the bits are the same, as the tree of the sum is one over chunks.
"""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.distributed.engines import Block, Broadcast, Engine, Result, block_of, once_each, run_block
from gradtape.distributed.reduction import Part, TreeSum, aligned_ranges
from gradtape.distributed.rows import Blocks, Rows
from gradtape.distributed.shipping import Shipped
from gradtape.errors import OperandError
from gradtape.extend import argument_error, import_library, report

FAN = 32
ATTEMPTS = 4
"""How often a pass is repeated after the loss of workers before it is given up."""
LOOKED_AFTER = 5.0
"""After how many seconds it is looked for workers that have joined."""
ANSWER_WITHIN = 60.0
"""After how many seconds an actor that does not answer is taken for lost."""
REACHED_AFTER = 1.0
"""After how many seconds without an answer it is looked whether a worker can be reached."""
SHARES_KEPT = 16
"""Of how many different rows a worker keeps its share."""


class Shards:
    """The workers of a cluster as holders of chunks, for `on=`: passes without a scheduler, over a tree of workers.

    - `client`: a client of `distributed`; None is the current one.
    - `fan`: how many workers one worker hands a pass on to.

    >>> from gradtape import distributed as gd
    >>> gd.Shards(fan=8)
    <Shards on the current client, each hands on to 8>
    """

    def __init__(self, client: Any = None, *, fan: int = FAN) -> None:
        if not isinstance(fan, int) or isinstance(fan, bool) or fan < 1:
            raise argument_error(OperandError, f"gt.distributed.Shards: fan={fan!r}.", "an integer of at least 1")
        if client is not None and not hasattr(client, "scheduler_info"):
            raise argument_error(
                OperandError,
                f"gt.distributed.Shards: client is a {type(client).__name__}.",
                "a distributed.Client, or None for the current one",
            )
        self.client, self.fan = client, fan
        self.actors: dict[str, Any] = {}
        """The actor of each worker, by the worker's address."""
        self.looked = 0.0

    def __repr__(self) -> str:
        where = "the current client" if self.client is None else repr(self.client)
        return f"<Shards on {where}, each hands on to {self.fan}>"

    def __getstate__(self) -> Any:
        raise TypeError("gt.distributed.Shards belongs to its client, and cannot be pickled")


Below = tuple[str, Any, list[Any]]
"""The address of a worker, its actor, and those that it hands a pass on to, which look the same."""


# -- in the workers


@dataclass(frozen=True)
class Subtree:
    """The sum over 2^level neighbouring chunks of a pass, of which the first stands at `begin`."""

    begin: int
    level: int
    result: Result


@dataclass(frozen=True)
class Pass:
    """What all actors get for a pass: the program, the parameters, whose shares, and which chunks of them."""

    program: Shipped
    shared: Broadcast
    rows: str
    """The name of the rows, of which each actor has a share."""
    places: dict[int, int] | None
    """For the numbers of the chunks that take part, their places in the sum; None if all do, in their order."""


@dataclass(frozen=True)
class Answer:
    """What an actor returns: subtrees; why an actor below it could not be reached; an error of the program."""

    subtrees: list[Subtree]
    lost: str = ""
    error: Exception | None = None


@dataclass
class Share:
    """The chunks of an actor: each as a block of its own, with its place among all chunks, by number."""

    blocks: dict[int, tuple[int, Block]]
    is_held: bool
    chunks: dict[int, list[Any]]


class Shard:
    """An actor: it keeps chunks, and computes what a pass asks for them."""

    def __init__(self) -> None:
        self.shares: dict[str, Share] = {}

    def ping(self) -> bool:
        """Say that it is there."""
        return True

    def take(self, rows: str, blocks: dict[int, tuple[int, Block]], is_held: bool) -> None:
        """Have this share of some rows from now on; chunks that it had already are kept."""
        before = self.shares.pop(rows, None)
        kept = {} if before is None else {n: chunk for n, chunk in before.chunks.items() if n in blocks}
        self.shares[rows] = Share(blocks, is_held, kept)
        while len(self.shares) > SHARES_KEPT:
            self.shares.pop(next(iter(self.shares)))

    def keep(self, rows: str, number: int, chunk: list[Any]) -> None:
        """Keep the arrays of a chunk."""
        self.shares[rows].chunks[number] = [np.asarray(x) for x in chunk]

    def run(self, given: Pass, below: list[Below]) -> Answer:
        """The sums over the chunks of this actor and of those below it, which have actors below them in turn."""
        calls = [(address, actor.run(given, further)) for address, actor, further in below]
        error: Exception | None = None
        found: list[Subtree] = []
        try:
            found = list(self._compute(given))
        except Exception as raised:
            error = raised
        lost = ""
        for address, call in calls:
            try:
                answer = answer_of(call, address)
            except Exception as raised:  # what a program raises is in its answer: a worker cannot be reached
                lost = f"{type(raised).__name__}: {raised}"
                continue
            found += answer.subtrees
            error = error or answer.error
            lost = lost or answer.lost
        return Answer([] if lost or error else joined(found), lost, error)

    def _compute(self, given: Pass) -> Iterator[Subtree]:
        share = self.shares[given.rows]
        if given.places is None:
            numbers = {place: number for number, (place, _) in share.blocks.items()}
        else:
            numbers = {given.places[number]: number for number in share.blocks if number in given.places}
        for start, stop in _runs(sorted(numbers)):
            for begin, level in aligned_ranges(start, stop):
                chosen = [numbers[place] for place in range(begin, begin + (1 << level))]
                yield Subtree(begin, level, self._result(given, share, chosen))

    def _result(self, given: Pass, share: Share, numbers: list[int]) -> Result:
        """The sum over neighbouring chunks, which are read one after the other, or were kept."""
        total, problems = TreeSum(), []
        for number in numbers:
            block = share.blocks[number][1]
            if number not in share.chunks and share.is_held:
                assert block.recipe is not None
                share.chunks[number] = block.recipe.read(0)
            kept = share.chunks.get(number)
            result = run_block(given.program, given.shared, block, None if kept is None else [kept])
            total.add(result.part)
            problems += result.problems
        return Result(total.result(), once_each(problems))


def answer_of(call: Any, address: str) -> Any:
    """The answer to the call of an actor; raises if its worker cannot be reached any more.

    A proxy in a worker would wait for the actor to come back, for ever.
    """
    while True:
        try:
            return call.result(timeout=REACHED_AFTER)
        except TimeoutError:
            if call.done():
                return call.result()
        host, _, port = address.rpartition("/")[2].rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_WITHIN).close()


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The stretches of neighbours among sorted numbers: first, and one behind the last."""
    start = 0
    for end in range(1, len(places) + 1):
        if end == len(places) or places[end] != places[end - 1] + 1:
            yield places[start], places[end - 1] + 1
            start = end


def joined(subtrees: list[Subtree]) -> list[Subtree]:
    """Subtrees in their order, with those added up that are the two halves of a larger one."""
    found: list[Subtree] = []
    for subtree in sorted(subtrees, key=lambda each: each.begin):
        right = subtree
        while found:
            left = found[-1]
            if (
                left.level != right.level
                or left.begin >> right.level & 1
                or left.begin + (1 << left.level) != right.begin
            ):
                break
            found.pop()
            problems = once_each(left.result.problems + right.result.problems)
            right = Subtree(left.begin, left.level + 1, Result(left.result.part.plus(right.result.part), problems))
        found.append(right)
    return found


def put_chunk(actor: Any, rows: str, number: int, chunk: list[Any]) -> None:
    """Have an actor keep a chunk that Dask has computed."""
    actor.keep(rows, number, chunk).result()


# -- in the client


class ShardEngine(Engine):
    """The actors of a `Shards`. Chunks are dealt out evenly, in their order, before the first pass over them."""

    def __init__(self, name: str, on: Shards, arrays: list[Any]) -> None:
        distributed = import_library("distributed", f"gt.distributed.{name}")
        client = on.client
        if client is None:
            try:
                client = distributed.default_client()
            except ValueError:
                raise argument_error(
                    OperandError,
                    f"gt.distributed.{name}: on={on!r}, and there is no current client.",
                    "client = distributed.Client(address), before; or on=gd.Shards(client)",
                ) from None
        super().__init__(name, client, arrays)
        self.shards = on
        self.is_holding = False
        self.all: dict[Any, Blocks] = {}
        self.dealt: dict[str, tuple[str, ...]] = {}
        """For the rows that were dealt out, the workers that have shares of them."""

    def hold(self, rows: Rows) -> None:
        """Have the actors keep their chunks."""
        self.is_holding = True

    def blocks(self, rows: Rows, size: int | None) -> Blocks:
        """Blocks of one chunk: which of them are computed together follows from the number of workers."""
        found = self.all[rows.identity] = Blocks(rows, 1)
        return found

    def block_size(self, chunks: int) -> int:
        """One: no task is made for a block."""
        return 1

    def run(self, label: str, program: Shipped, shared: Broadcast, blocks: Blocks, rows: Rows) -> Part:
        """The sum of what the program gives for all chunks; repeated with other workers if some are lost."""
        whole = self.all[rows.identity]
        numbers = [block[0] for block in blocks.numbers]
        places = None if blocks is whole else {number: place for place, number in enumerate(numbers)}
        name = f"{label}-{uuid.uuid5(uuid.NAMESPACE_OID, repr(rows.identity)).hex}"
        given = Pass(program, shared, name.rpartition("-")[2], places)
        for attempt in range(ATTEMPTS):
            answer = self._attempt(given, whole, rows, is_again=attempt > 0)
            if answer.lost:
                continue
            if answer.error is not None:
                raise answer.error
            total = TreeSum()
            for subtree in answer.subtrees:
                total.add(subtree.result.part, subtree.level)
            for problem in once_each([x for subtree in answer.subtrees for x in subtree.result.problems]):
                report(problem)
            return total.result()
        raise argument_error(
            OperandError,
            f"gt.distributed.{self.name}: workers were lost in {ATTEMPTS} attempts at one pass ({answer.lost}): mostly "
            "because a chunk and its intermediate values need more memory than a worker has.",
            "smaller chunks: X = X.rechunk((X.chunksize[0] // 4, -1)); or workers with more memory",
        )

    def _attempt(self, given: Pass, whole: Blocks, rows: Rows, is_again: bool) -> Answer:
        """The answer of all actors to a pass."""
        try:
            actors = self._actors(is_again)
            self._deal(given.rows, actors, whole, rows)
            (address, first), *others = actors.items()
            answer: Answer = answer_of(first.run(given, tree_of(others, self.shards.fan)), address)
        except Exception as error:
            if not _is_lost_worker(error):
                raise
            return Answer([], f"{type(error).__name__}: {error}")
        return answer

    def _actors(self, is_again: bool) -> dict[str, Any]:
        """The actors by the addresses of their workers: one for each worker, also for those that have joined."""
        shards, now = self.shards, time.monotonic()
        if shards.actors and not is_again and now - shards.looked < LOOKED_AFTER:
            return shards.actors
        if is_again:
            time.sleep(0.2)  # until the scheduler knows of the loss
            shards.actors = {address: actor for address, actor in shards.actors.items() if _is_there(actor)}
        self.client.wait_for_workers(1)
        workers = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        found = {address: actor for address, actor in shards.actors.items() if address in workers}
        missing = [address for address in workers if address not in found]
        made = [
            self.client.submit(
                Shard, actor=True, key=f"shard-{uuid.uuid4().hex}", workers=[address], allow_other_workers=False
            )
            for address in missing
        ]
        found.update({address: future.result() for address, future in zip(missing, made, strict=True)})
        shards.actors = {address: found[address] for address in workers}
        shards.looked = time.monotonic()
        if missing:
            self.dealt.clear()
        return shards.actors

    def _deal(self, name: str, actors: dict[str, Any], whole: Blocks, rows: Rows) -> None:
        """Give each actor its share of the rows, unless it has it."""
        workers = tuple(actor.key for actor in actors.values())
        if self.dealt.get(name) == workers:
            return
        count, is_held = len(whole), self.is_holding or whole.are_tasks
        taken, filled = [], []
        for number, (address, actor) in enumerate(actors.items()):
            start, stop = (count * each // len(actors) for each in (number, number + 1))
            share = {whole.numbers[place][0]: (place, block_of(whole, place, rows)) for place in range(start, stop)}
            taken.append(actor.take(name, share, is_held))
            if whole.are_tasks:
                filled.append((address, actor, range(start, stop)))
        for call in taken:
            call.result()
        pending = [self._fill(name, address, actor, whole, places) for address, actor, places in filled]
        self.client.gather([future for futures in pending for future in futures])
        self.dealt[name] = workers

    def _fill(self, name: str, address: str, actor: Any, whole: Blocks, places: range) -> list[Any]:
        """Have Dask compute chunks that share work, or that it holds, and give them to an actor."""
        graph: dict[Any, Any] = {}
        keys = []
        for place in places:
            graph.update(whole.parts[place])
            key = f"shard-{uuid.uuid4().hex}"
            graph[key] = (put_chunk, actor, name, whole.numbers[place][0], whole.keys[place][0])
            keys.append(key)
        found: list[Any] = self.client.get(graph, keys, workers=[address], sync=False) if keys else []
        return found


def tree_of(actors: Sequence[tuple[str, Any]], fan: int) -> list[Below]:
    """Neighbouring actors under one another: at most `fan` first ones, each with those that follow it below it.

    >>> tree_of([(str(number), "") for number in range(5)], 2)
    [('0', '', [('1', '', []), ('2', '', [])]), ('3', '', [('4', '', [])])]
    """
    count = min(fan, len(actors))
    found: list[Below] = []
    for number in range(count):
        start, stop = (-(-len(actors) * each // count) for each in (number, number + 1))
        found.append((*actors[start], tree_of(actors[start + 1 : stop], fan)))
    return found


def _is_there(actor: Any) -> bool:
    """Whether an actor answers; it does so when it has computed what it was asked for before."""
    try:
        return bool(actor.ping().result(timeout=ANSWER_WITHIN))
    except Exception:  # whatever is in the way of an answer: the worker is taken for lost, and its chunks given away
        return False


def _is_lost_worker(error: Exception) -> bool:
    """Whether an error tells that a worker was lost."""
    lost = ("KilledWorker", "CommClosedError", "FutureCancelledError", "CancelledError", "NoValidWorkerError")
    text = str(error)
    return (
        isinstance(error, OSError)
        or type(error).__name__ in lost
        or "Worker holding Actor was lost" in text
        or "lost dependencies" in text
    )
