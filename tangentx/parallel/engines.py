"""Engines: what executors have in common, the particulars of each, and tasks submitted to them."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from tangentx.common.progress import at
from tangentx.parallel.worker import Done, Missing, Program, Raised, Task, name_shard, packed, unpacked, work

# Engines: what executors have in common, and the particulars of each.
#
# An engine is what has the interface of ``concurrent.futures.Executor``. Threads get the objects themselves. Dask
# moves the shards by itself and runs tasks where they are. To all others shards go as bytes, once to each worker.

Shards = Sequence[tuple[Any, ...]]
PATIENCE = 0.25
"""Seconds between looks at the processes of a pool."""
LIMIT_SENT = 100_000
"""Programs of more bytes are sent to a worker when it asks for them alone."""


class RemoteTraceback(Exception):
    """How Python showed an exception in the worker that raised it."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Local:
    """The calling process, and its threads: nothing is sent."""

    lasts = False
    """Whether the engine goes on where a worker has died."""
    patience: float | None = None
    """After how many seconds without a result to look whether a worker has died; None where the engine says so."""

    def __init__(self, program: Program, shards: Shards, executor: Any = None) -> None:
        self.program, self.shards, self.executor = program, shards, executor

    def begin(self, parameters: tuple[Any, ...]) -> None:
        """Takes the parameters of one call."""
        self._parameters = parameters

    def submit(self, number: int, missing: Missing | None = None) -> Any:
        """The future of one shard; `missing` is what the worker lacked that had the task before."""
        return self.executor.submit(self.run, number, self._parameters)

    def look(self) -> None:
        """Gives the tasks of workers that have died an exception."""

    def run(self, number: int, parameters: tuple[Any, ...]) -> Any:
        """The outcome of one shard, here and now."""
        try:
            return self.program(parameters, self.shards[number])
        except Exception as error:
            name_shard(error, self.program, number, len(self.shards))
            return Raised(error, "", "")

    def received(self, outcome: Any) -> Any:
        """The result that a future gave; `Missing` where the task has to be sent again, with that.

        Raises what the program raised.
        """
        if type(outcome) is Raised:
            raise outcome.error
        return outcome


class Distant(Local):
    """Other processes."""

    def __init__(self, program: Program, shards: Shards, executor: Any) -> None:
        super().__init__(program, shards, executor)
        self.key = uuid.uuid4().hex
        self._program = packed(program, program.name)
        self._sent: set[int] = set()
        if isinstance(executor, Pool):
            self.lasts, self.patience = executor.renews, PATIENCE if executor.renews else None

    def look(self) -> None:
        """See `Local`."""
        self.executor.look()

    def begin(self, parameters: tuple[Any, ...]) -> None:
        """Takes the parameters of one call, as bytes for all tasks."""
        self._bytes = packed(parameters)

    def submit(self, number: int, missing: Missing | None = None) -> Any:
        """The future of one shard."""
        brought = self._brought(number)
        first = number not in self._sent
        lacks = missing or Missing(first and len(self._program) <= LIMIT_SENT, first and not brought)
        self._sent.add(number)
        program = self._program if lacks.program else None
        shard = packed(self.shards[number]) if lacks.shard else None
        task = Task(self.key, number, len(self.shards), self._bytes, program, shard)
        return self.executor.submit(work, task, *brought)

    def _brought(self, number: int) -> tuple[Any, ...]:
        return ()

    def received(self, outcome: Any) -> Any:
        """See `Local`. Raises what the program raised."""
        if type(outcome) is Done:
            return unpacked(outcome.result)
        if type(outcome) is Raised:
            error = RuntimeError(outcome.text) if outcome.error is None else unpacked(outcome.error)
            raise error from RemoteTraceback(outcome.shown)
        return outcome


SCATTERS, PAUSE = 4, 0.25
"""How often data are sent before an ended connection is an error, and the seconds after which the cluster may know of a
worker's death."""


class Scattered(Distant):
    """Dask: the shards are scattered over the workers, and tasks run where theirs is.

    They are scattered as bytes: arrays that Dask has moved may lie at odd addresses, where sums round otherwise.
    """

    lasts = True

    def __init__(self, program: Program, shards: Shards, executor: Any) -> None:
        super().__init__(program, shards, executor)
        self.client = executor._client
        self._futures: dict[int, Any] = {}

    def _brought(self, number: int) -> tuple[Any, ...]:
        future = self._futures.get(number)
        if future is None or future.status in ("lost", "cancelled", "error"):
            future = self._futures[number] = self._scattered(packed(self.shards[number]))
        return (future,)

    def _scattered(self, data: bytes) -> Any:
        """Data of the cluster. An interrupt of `scatter` itself leaves them there, with nobody to let them go.

        Where the worker that is to have them dies meanwhile, they go to another.
        """
        for left in reversed(range(SCATTERS)):
            scattering = self.client.scatter([data], hash=False, asynchronous=True)
            try:
                return asyncio.run_coroutine_threadsafe(scattering, self.client.loop.asyncio_loop).result()[0]
            except OSError:  # what Dask raises for a connection that has ended
                if not left:
                    raise
                time.sleep(PAUSE)


class Pool:
    """The interface of an executor for pools with ``apply_async``: multiprocessing's, Ray's.

    Such a pool takes nothing back, so it is given as many calls as it has workers, twice, and the next ones as those
    are done: a run that is cancelled leaves no more behind. Multiprocessing's says nothing of a process that ends, and
    puts another in its place, so one has to `look`.
    """

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self._workers: dict[int, Any] = {}
        self._running: set[Future[Any]] = set()
        self.renews = any(hasattr(worker, "sentinel") for worker in getattr(pool, "_pool", ()))
        self._free = 2 * int(getattr(pool, "_processes", None) or len(getattr(pool, "_actor_pool", ())) or 1)
        self._waiting: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """The future of a call."""
        future: Future[Any] = Future()
        self._know_workers()
        self._waiting.append((future, function, args))
        self._go_on()
        return future

    def _know_workers(self) -> None:
        for worker in list(getattr(self.pool, "_pool", ())) if self.renews else ():
            self._workers[id(worker)] = worker

    def look(self) -> None:
        """Gives all calls that are under way an exception where a process has ended: whose it was nobody knows."""
        ended = [worker for worker in self._workers.values() if worker.exitcode is not None]
        for worker in ended:
            del self._workers[id(worker)]
        self._know_workers()
        retires = getattr(self.pool, "_maxtasksperchild", None) is not None
        codes = [worker.exitcode for worker in ended if worker.exitcode or not retires]
        if codes:
            with self._lock:
                lost, self._running = list(self._running), set()
                self._free += len(lost)
            for future in lost:
                future.set_exception(BrokenExecutor(f"a process of the pool has ended with exit code {codes[0]}"))
            self._go_on()

    def _go_on(self) -> None:
        """Hands over what waits, as far as there is room."""
        while (call := self._next()) is not None:
            future, function, args = call
            done, failed = self._ends(future)
            try:
                self.pool.apply_async(function, args, callback=done, error_callback=failed)
            except Exception as error:
                failed(error)

    def _next(self) -> tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None:
        with self._lock:
            while self._free and self._waiting:
                call = self._waiting.popleft()
                if call[0].set_running_or_notify_cancel():
                    self._free -= 1
                    self._running.add(call[0])
                    return call
            return None

    def _ends(self, future: Future[Any]) -> tuple[Callable[[Any], None], Callable[[BaseException], None]]:
        """What is called with the result, and with an exception."""

        def ended(tell: Callable[[Any], None], what: Any) -> None:
            with self._lock:
                if future not in self._running:
                    return  # taken for lost before
                self._running.remove(future)
                self._free += 1
            tell(what)
            self._go_on()

        return partial(ended, future.set_result), partial(ended, future.set_exception)


def engine_for(executor: Any, program: Program, shards: Shards) -> Local:
    """The way to work with an executor."""
    if isinstance(executor, ThreadPoolExecutor):
        return Local(program, shards, executor)
    if hasattr(executor, "get_executor"):  # a client of Dask's
        executor = executor.get_executor()
    if hasattr(getattr(executor, "_client", None), "scatter"):
        return Scattered(program, shards, executor)
    return Distant(program, shards, executor if hasattr(executor, "submit") else Pool(executor))


def end(executor: Any) -> None:
    """Ends an executor that was made here; what has not begun does not begin."""
    if hasattr(executor, "shutdown"):
        executor.shutdown(wait=False, cancel_futures=True)
    else:
        executor.terminate() if hasattr(executor, "terminate") else executor.close()


def is_executor(value: Any) -> bool:
    """Whether it is an engine itself, and no function that makes one."""
    return any(hasattr(value, name) for name in ("submit", "apply_async"))


# Tasks submitted to an engine, collected in any order.

_LOST = (BrokenExecutor, CancelledError, EOFError, ConnectionError)
_LOST_BY_NAME = frozenset((
    "KilledWorker", "FutureCancelledError", "FutureLostError",  # Dask's
    "RayActorError", "WorkerCrashedError", "NodeDiedError",  # Ray's
))  # fmt: skip
"""What engines raise that are not imported here where a worker has died."""


class Tasks:
    """Shards that an engine works on: ``take(number, result)`` is called for each that is done.

    Those whose worker died are `lost`, and `reason` is what the engine said of it. Where anything is raised, what has
    not begun is cancelled.
    """

    def __init__(self, engine: Local, take: Callable[[int, Any], None], doing: str, count: int) -> None:
        self.lost: list[int] = []
        self.reason: BaseException | None = None
        self._engine, self._take = engine, take
        self._doing, self._count = doing, count
        self._under_way: dict[Any, int] = {}
        self._arrived: SimpleQueue[Any] = SimpleQueue()

    def run(self, numbers: Sequence[int], parameters: tuple[Any, ...]) -> None:
        """Works on the shards of these numbers until all are done or lost."""
        try:
            self._engine.begin(parameters)
            for number in numbers:
                self._send(number)
            while self._under_way:
                left = len(self._under_way) + len(self.lost)
                at(f"{self._count - left} of {self._count}", 1.0 - left / self._count, self._doing)
                self._receive(self._next())
        finally:
            for future in self._under_way:
                future.cancel()

    def _send(self, number: int, missing: Missing | None = None) -> None:
        try:
            future = self._engine.submit(number, missing)
        except _LOST as error:
            self._lose(number, error)
            return
        self._under_way[future] = number
        future.add_done_callback(self._arrived.put)

    def _next(self) -> Any:
        """The next future that is done."""
        while True:
            try:
                return self._arrived.get(timeout=self._engine.patience)
            except Empty:
                self._engine.look()

    def _receive(self, future: Any) -> None:
        number = self._under_way.pop(future)
        try:
            outcome = future.result()
        except Exception as error:
            if not isinstance(error, _LOST) and _LOST_BY_NAME.isdisjoint(cls.__name__ for cls in type(error).__mro__):
                error.add_note(f"from the executor, for shard {number} of {self._count} (the first is shard 0)")
                raise
            self._lose(number, error)
            return
        result = self._engine.received(outcome)
        if type(result) is Missing:
            self._send(number, result)
        else:
            self._take(number, result)

    def _lose(self, number: int, error: BaseException) -> None:
        self.lost.append(number)
        self.reason = error
