"""The machine code of the thread pool: LLVM IR for opening a parallel region, and for the threads that help in it.

The memory of the pool is an array of 64-bit integers, `Field` has their places. A region is a task (a function of a
table of pointers and a range of units) that is divided into pieces. All pieces that are left are in one word, `WORK`:

    generation << 32  |  end << 16  |  begin

The calling thread takes the piece at `begin`, a helper the one before `end`, by a compare-and-swap of the word. The
generation changes from region to region, so a helper that read the word and was then not scheduled for a while takes
nothing of a later region. The fields of the task are read after a piece was taken: until that piece is finished, the
region is not closed, and the fields do not change. So a region waits for pieces that were begun, never for a helper.

The same helpers compute the same pieces in the next region of the same size, if all take the same time: what they wrote
is in the cache of their core.

Threads wait by reading a word for a while, about as long as a thread takes to be woken, and then on a lock of the C API
of Python (`PyThread_acquire_lock`), which needs no GIL. A thread that is about to wait sets its flag, and looks again;
the thread that finds the flag set clears it, and releases the lock. Flags and the word are accessed in one order that
all threads agree on (`seq_cst`), so that a thread either sees the work, or is seen waiting.
"""

from __future__ import annotations

from enum import IntEnum

LINE = 16
"""64-bit integers of two cache lines: processors load them in pairs."""
MOST_HELPERS = 255
PIECES = 4
"""Pieces for each thread: more than one, since threads do not start at the same time."""


class Field(IntEnum):
    """The places of fields in the memory of the pool; those that different threads write are in different lines."""

    WORK = 0
    MISSING = LINE  # pieces that are not finished
    BUSY = 2 * LINE  # 1 while a region is open
    LIMIT = 3 * LINE  # threads of a region, at most
    HELPERS = 3 * LINE + 1  # threads that run `help`
    STOPPED = 3 * LINE + 2  # 1 when helpers are to return
    FUNCTION = 4 * LINE  # the task
    BUFFERS = 4 * LINE + 1
    UNITS = 4 * LINE + 2
    COUNT = 4 * LINE + 3  # its pieces
    WAITING = 5 * LINE  # 1 while the calling thread waits for the last piece
    FINISHED = 5 * LINE + 1  # the lock it waits on
    FIRST_HELPER = 6 * LINE  # of each helper: whether it waits, and the lock it waits on


FIELDS = Field.FIRST_HELPER + LINE * MOST_HELPERS
SPINS = 2000
"""How often a waiting thread looks before it waits on its lock: some 40 to 100 us."""

_YIELD = "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
PAUSES = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": _YIELD,
    "arm64": _YIELD,
}
"""The instruction that tells a processor that the thread waits, by architecture: its declaration, and its use."""


def make_text(architecture: str) -> str:
    """The LLVM IR of `gradtape_parallel(function, buffers, units)`, `gradtape_help(number)` and `gradtape_stop()`."""
    declaration, spin = PAUSES.get(architecture, ("", "fence seq_cst"))
    return declaration + _TEXT.format(
        spin=spin,
        spins=SPINS,
        line=LINE,
        each=PIECES,
        **{field.name.lower(): f"getelementptr (i64, ptr @gradtape_pool, i64 {field.value})" for field in Field},
    )


_TEXT = """
@gradtape_pool = external global i64
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)

; the flag of a waiting thread is followed by its lock
define internal void @wake(ptr %flag) {{
  %found = cmpxchg ptr %flag, i64 1, i64 0 seq_cst seq_cst
  %waits = extractvalue {{ i64, i1 }} %found, 1
  br i1 %waits, label %release, label %done
release:
  %place = getelementptr i64, ptr %flag, i64 1
  %lock = load ptr, ptr %place
  call void @PyThread_release_lock(ptr %lock)
  ret void
done:
  ret void
}}

; after the flag was set: wait until it is cleared, unless `ready` says that there is no need
define internal void @sleep(ptr %flag, i1 %ready) {{
  br i1 %ready, label %withdraw, label %acquire
withdraw:
  %found = cmpxchg ptr %flag, i64 1, i64 0 seq_cst seq_cst
  %alone = extractvalue {{ i64, i1 }} %found, 1
  br i1 %alone, label %done, label %acquire
acquire:
  %place = getelementptr i64, ptr %flag, i64 1
  %lock = load ptr, ptr %place
  %taken = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  ret void
done:
  ret void
}}

; compute pieces until all are taken: from the first on, or from the last
define internal void @work(i1 %first) {{
  br label %look
look:
  %word = load atomic i64, ptr {work} seq_cst, align 8
  %begin = and i64 %word, 65535
  %shifted = lshr i64 %word, 16
  %end = and i64 %shifted, 65535
  %left = icmp ult i64 %begin, %end
  br i1 %left, label %take, label %done
take:
  %last = sub i64 %end, 1
  %without_first = add i64 %word, 1
  %without_last = sub i64 %word, 65536
  %piece = select i1 %first, i64 %begin, i64 %last
  %rest = select i1 %first, i64 %without_first, i64 %without_last
  %found = cmpxchg ptr {work}, i64 %word, i64 %rest seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %found, 1
  br i1 %mine, label %compute, label %look
compute:
  %function = load ptr, ptr {function}
  %buffers = load ptr, ptr {buffers}
  %units = load i64, ptr {units}
  %pieces = load i64, ptr {count}
  %following = add i64 %piece, 1
  %from = mul i64 %units, %piece
  %to = mul i64 %units, %following
  %low = udiv i64 %from, %pieces
  %high = udiv i64 %to, %pieces
  call void %function(ptr %buffers, i64 %low, i64 %high)
  %before = atomicrmw sub ptr {missing}, i64 1 seq_cst
  %is_last = icmp eq i64 %before, 1
  br i1 %is_last, label %finish, label %look
finish:
  call void @wake(ptr {waiting})
  br label %look
done:
  ret void
}}

define void @gradtape_parallel(ptr %function, ptr %buffers, i64 %units) {{
  %limit = load atomic i64, ptr {limit} monotonic, align 8
  %helpers = load atomic i64, ptr {helpers} monotonic, align 8
  %available = add i64 %helpers, 1
  %few = call i64 @llvm.umin.i64(i64 %limit, i64 %available)
  %threads = call i64 @llvm.umin.i64(i64 %few, i64 %units)
  %several = icmp ugt i64 %threads, 1
  br i1 %several, label %try, label %alone
try:
  %found = cmpxchg ptr {busy}, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %found, 1
  br i1 %mine, label %open, label %alone
alone:  ; also in a piece of another region, and while another thread has one
  call void %function(ptr %buffers, i64 0, i64 %units)
  ret void
open:
  %many = mul i64 %threads, {each}
  %pieces = call i64 @llvm.umin.i64(i64 %many, i64 %units)
  store ptr %function, ptr {function}
  store ptr %buffers, ptr {buffers}
  store i64 %units, ptr {units}
  store i64 %pieces, ptr {count}
  store atomic i64 %pieces, ptr {missing} seq_cst, align 8
  %word = load atomic i64, ptr {work} seq_cst, align 8
  %generation = lshr i64 %word, 32
  %next = add i64 %generation, 1
  %high = shl i64 %next, 32
  %ends = shl i64 %pieces, 16
  %opened = or i64 %high, %ends
  %replaced = atomicrmw xchg ptr {work}, i64 %opened seq_cst
  %needed = sub i64 %threads, 1
  br label %wake_helpers
wake_helpers:
  %number = phi i64 [ 0, %open ], [ %following, %wake_helpers ]
  %distance = mul i64 %number, {line}
  %flag = getelementptr i64, ptr {first_helper}, i64 %distance
  call void @wake(ptr %flag)
  %following = add i64 %number, 1
  %more = icmp ult i64 %following, %needed
  br i1 %more, label %wake_helpers, label %compute
compute:
  call void @work(i1 true)
  br label %wait
wait:
  %spins = phi i64 [ 0, %compute ], [ %again, %spin ], [ 0, %sleep_on ]
  %missing = load atomic i64, ptr {missing} seq_cst, align 8
  %complete = icmp eq i64 %missing, 0
  br i1 %complete, label %close, label %spin
spin:
  {spin}
  %again = add i64 %spins, 1
  %long = icmp ugt i64 %again, {spins}
  br i1 %long, label %sleep_on, label %wait
sleep_on:
  store atomic i64 1, ptr {waiting} seq_cst, align 8
  %still = load atomic i64, ptr {missing} seq_cst, align 8
  %ready = icmp eq i64 %still, 0
  call void @sleep(ptr {waiting}, i1 %ready)
  br label %wait
close:
  store atomic i64 0, ptr {busy} seq_cst, align 8
  ret void
}}

; whether a helper has something to do: pieces that it may take, or to return
define internal i1 @is_called(i64 %number) {{
  %word = load atomic i64, ptr {work} seq_cst, align 8
  %begin = and i64 %word, 65535
  %shifted = lshr i64 %word, 16
  %end = and i64 %shifted, 65535
  %left = icmp ult i64 %begin, %end
  %limit = load atomic i64, ptr {limit} monotonic, align 8
  %rank = add i64 %number, 1
  %admitted = icmp ult i64 %rank, %limit
  %has_work = and i1 %left, %admitted
  %stopped = load atomic i64, ptr {stopped} seq_cst, align 8
  %ends = icmp ne i64 %stopped, 0
  %called = or i1 %has_work, %ends
  ret i1 %called
}}

define void @gradtape_help(i64 %number) {{
start:
  %distance = mul i64 %number, {line}
  %flag = getelementptr i64, ptr {first_helper}, i64 %distance
  br label %look
look:
  %spins = phi i64 [ 0, %start ], [ 0, %compute ], [ %again, %spin ], [ 0, %sleep_on ]
  %stopped = load atomic i64, ptr {stopped} seq_cst, align 8
  %ends = icmp ne i64 %stopped, 0
  br i1 %ends, label %done, label %ask
ask:
  %called = call i1 @is_called(i64 %number)
  br i1 %called, label %compute, label %spin
compute:
  call void @work(i1 false)
  br label %look
spin:
  {spin}
  %again = add i64 %spins, 1
  %long = icmp ugt i64 %again, {spins}
  br i1 %long, label %sleep_on, label %look
sleep_on:
  store atomic i64 1, ptr %flag seq_cst, align 8
  %ready = call i1 @is_called(i64 %number)
  call void @sleep(ptr %flag, i1 %ready)
  br label %look
done:
  ret void
}}

; have all helpers return
define void @gradtape_stop() {{
  store atomic i64 1, ptr {stopped} seq_cst, align 8
  %helpers = load atomic i64, ptr {helpers} seq_cst, align 8
  br label %check
check:
  %number = phi i64 [ 0, %0 ], [ %following, %next ]
  %more = icmp ult i64 %number, %helpers
  br i1 %more, label %next, label %done
next:
  %distance = mul i64 %number, {line}
  %flag = getelementptr i64, ptr {first_helper}, i64 %distance
  call void @wake(ptr %flag)
  %following = add i64 %number, 1
  br label %check
done:
  ret void
}}

declare i64 @llvm.umin.i64(i64, i64)
"""
