"""The requests of a bulk call, as gRPC takes them: those not answered yet, then the rest of an iterable.

A feed outlives the attempts of its call, which `call` makes one after another:

    feed = Feed(items, fields)
    with feed.call(stub.TranslateBulk, settings) as responses:
        for response in responses:
            feed.answered(response.id)

What the iterable raises ends the call and is raised by the block.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any, AsyncIterator, Callable, Iterator, Optional

import grpc

from dragoman import requests
from dragoman.requests import AsyncBulkItems, BulkItem, BulkItems
from dragoman.v1 import translation_pb2 as pb


class _Pending:
    """The requests that are not answered yet."""

    def __init__(self, fields: Any) -> None:
        self._fields = fields
        self._number = 0  # of items taken
        self._pending: dict[str, pb.TranslateBulkRequest] = {}
        #: What the iterable raised.
        self.failure: Optional[BaseException] = None

    def answered(self, name: str) -> None:
        self._pending.pop(name, None)

    def _add(self, item: BulkItem) -> pb.TranslateBulkRequest:
        request = requests.bulk_request(item, self._number, self._fields)
        if request.id in self._pending:
            raise ValueError(f"two requests have the id {request.id!r}")
        self._number += 1
        self._pending[request.id] = request
        return request


class Feed(_Pending):
    """For the synchronous client.

    gRPC reads the requests in a separate thread for each attempt.  The thread of a failed attempt may still be
    in the iterable's next(); the lock makes the next attempt wait for it.
    """

    def __init__(self, items: BulkItems, fields: Any) -> None:
        super().__init__(fields)
        self._items = iter(items)
        self._lock = threading.Lock()
        self._attempt = 0

    @contextlib.contextmanager
    def call(self, method: Callable[..., Any], settings: dict[str, Any]) -> Iterator[Any]:
        self._attempt += 1
        call = method(self._requests(self._attempt), **settings)
        try:
            yield call
        except grpc.RpcError:
            if self.failure is None:
                raise
            raise self.failure from None
        finally:
            call.cancel()

    def _requests(self, attempt: int) -> Iterator[pb.TranslateBulkRequest]:
        with self._lock:
            again = list(self._pending.values())
        yield from again
        while True:
            with self._lock:
                if attempt != self._attempt:
                    return
                try:
                    request = self._add(next(self._items))
                except StopIteration:
                    return
                except BaseException as failure:
                    self.failure = failure
                    raise
            yield request


class AsyncFeed(_Pending):
    """For asyncio: a task for each attempt writes the requests."""

    def __init__(self, items: AsyncBulkItems, fields: Any) -> None:
        super().__init__(fields)
        self._items = _each(items)
        self._next: Optional[asyncio.Future[Any]] = None

    @contextlib.asynccontextmanager
    async def call(self, method: Callable[..., Any], settings: dict[str, Any]) -> AsyncIterator[Any]:
        call = method(**settings)
        writer = asyncio.ensure_future(self._write(call))
        try:
            yield call
        except (grpc.RpcError, asyncio.CancelledError):  # CancelledError: _write has cancelled the call
            if self.failure is None:
                raise
            raise self.failure from None
        finally:
            call.cancel()
            # It must have left the iterable before the next attempt reads the rest.
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _write(self, call: Any) -> None:
        for request in list(self._pending.values()):
            await call.write(request)
        while True:
            try:
                request = self._add(await self._take())
            except StopAsyncIteration:
                break
            except asyncio.CancelledError:
                raise
            except BaseException as failure:
                self.failure = failure
                call.cancel()
                return
            await call.write(request)
        await call.done_writing()

    async def _take(self) -> BulkItem:
        """The next item.  If the wait for it is cancelled, the next call gets the same one."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._items.__anext__())
        item: BulkItem = await asyncio.shield(self._next)
        self._next = None
        return item


async def _each(items: Any) -> AsyncIterator[BulkItem]:
    if hasattr(items, "__aiter__"):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
