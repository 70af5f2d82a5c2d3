"""Tasks submitted to an engine, collected in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from queue import Empty, SimpleQueue
from typing import Any

from tangentx.common.progress import at
from tangentx.parallel.engines import Local
from tangentx.parallel.worker import Missing

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
