"""The time that more threads than there are processors would take: recorded pieces of work, scheduled on so many.

An evaluation is run as if by so many threads, whose pieces one thread then does one after another; each piece says what
it took, which pieces it waits for, and which locks it held. Threads take pieces in their order:

    recorded pieces ──taken in order, waiting for others and for locks──> seconds of each call, and of what is serial

What threads take from each other otherwise (caches, memory, the interpreter) is not in it.
"""

from __future__ import annotations

import heapq
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import groupby
from typing import Any, NamedTuple
from unittest import mock

import deadheat._core as _core
from deadheat.support.progress import Workers


class Part(NamedTuple):
    """A part of a piece: seconds without a lock, and then with it, if it is not 0."""

    lock: float
    free: float
    held: float


class Piece(NamedTuple):
    after: int  # pieces of the call, from the first on, that have to end before this one begins
    parts: list[Part]


class Recording(NamedTuple):
    """Seconds of processor time that belong to no piece, and the pieces of each call."""

    serial: float
    calls: list[list[Piece]]


def record(work: Callable[[int], object], threads: int) -> Recording:
    """Do some work for so many threads by one."""
    calls: list[list[Piece]] = []

    def each(self: Workers, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        results, pieces = [], []
        for item in items:
            begin = time.thread_time()
            results.append(work(item))
            pieces.append(Piece(0, [Part(0, time.thread_time() - begin, 0)]))
        calls.append(pieces)
        return results

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(os, "cpu_count", return_value=threads))
        stack.enter_context(mock.patch.object(Workers, "each", each))
        _core.start_record(1)
        stack.callback(_core.stop_record)
        begin = time.process_time()
        work(threads)
        total = time.process_time() - begin
        calls += _calls_of(_core.stop_record().tolist())
    return Recording(total - in_pieces(calls), calls)


def in_pieces(calls: list[list[Piece]]) -> float:
    """The seconds of all pieces."""
    return sum(part.free + part.held for pieces in calls for piece in pieces for part in piece.parts)


def _calls_of(rows: list[list[float]]) -> list[list[Piece]]:
    """The pieces of the core's calls, from rows of call, piece, after, lock, free and held."""
    calls = []
    for _, of_call in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[0]):
        pieces = [list(parts) for _, parts in groupby(of_call, key=lambda row: row[1])]
        calls.append([Piece(int(parts[0][2]), [Part(*part[3:]) for part in parts]) for parts in pieces])
    return calls


def seconds(recording: Recording, threads: int, start: float = 0.0) -> float:
    """The time of a recording by so many threads, each of which takes some seconds to start."""
    called = sum(makespan(pieces, threads) + start * min(threads, len(pieces)) for pieces in recording.calls)
    return recording.serial + called


def makespan(pieces: list[Piece], threads: int) -> float:
    """The time from the beginning of the first piece to the end of the last, taken in order by so many threads.

    Examples
    --------
    Three pieces of a second each; two threads. The last one waits for both others, or holds the lock of the first:

    >>> free = Piece(0, [Part(0, 1.0, 0.0)])
    >>> makespan([free] * 3, 2), makespan([free] * 3, 3), makespan([free, free, free._replace(after=2)], 3)
    (2.0, 1.0, 2.0)
    >>> makespan([Piece(0, [Part(7, 0.0, 1.0)])] * 3, 3)
    3.0
    """
    taken = ended = 0  # pieces that have begun, and that have ended from the first on
    has_ended, free_from = [False] * len(pieces), defaultdict[float, float](float)
    waiting: dict[int, tuple[int, int]] = {}  # threads that wait until so many pieces have ended, with their piece
    # when a thread goes on, with which part of which piece, and whether it has come to the lock of that
    events = [(0.0, thread, -1, 0, False) for thread in range(threads)]
    last = 0.0
    while events:
        now, thread, piece, part, at_lock = heapq.heappop(events)
        if piece >= 0 and part == len(pieces[piece].parts):
            last, has_ended[piece] = now, True
            while ended < len(pieces) and has_ended[ended]:
                ended += 1
            for other, (after, other_piece) in list(waiting.items()):
                if after <= ended:
                    heapq.heappush(events, (now, other, other_piece, 0, False))
                    del waiting[other]
            piece = -1
        if piece < 0:
            if taken == len(pieces):
                continue
            piece, part, taken = taken, 0, taken + 1
            if pieces[piece].after > ended:
                waiting[thread] = pieces[piece].after, piece
                continue
        lock, free, held = pieces[piece].parts[part]
        if held and not at_lock:
            heapq.heappush(events, (now + free, thread, piece, part, True))
            continue
        end = max(now, free_from[lock]) + held if held else now + free  # locks are had in the order of requests
        free_from[lock] = end
        heapq.heappush(events, (end, thread, piece, part + 1, False))
    return last


def start_of_thread() -> float:
    """Seconds of a processor that the starting and joining of a thread takes."""
    begin = time.process_time()
    for _ in range(200):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
    return (time.process_time() - begin) / 200
