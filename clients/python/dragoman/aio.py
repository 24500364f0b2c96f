"""The client for asyncio: dragoman.aio.Client."""

from __future__ import annotations

import asyncio
import time
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Optional,
    Sequence,
    Union,
)

import grpc
import grpc.aio

from dragoman import connection, errors, requests
from dragoman.connection import Tls, Token
from dragoman.errors import DragomanError
from dragoman.requests import BulkItem, Contents, TranslateFields
from dragoman.retry import Retry
from dragoman.v1 import translation_pb2 as pb
from dragoman.v1 import translation_pb2_grpc as pb_grpc

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Client:
    """dragoman.Client for asyncio, with the same methods.  Bound to the loop that is running when it is created."""

    def __init__(
        self,
        server: str = connection.DEFAULT_SERVER,
        *,
        tls: Union[Tls, bool, None] = None,
        token: Token = None,
        timeout: Optional[float] = 60.0,
        retry: Retry = Retry(),
    ) -> None:
        tls = Tls() if tls is True else tls or None
        options = connection.channel_options(tls)
        self._channel = (
            grpc.aio.secure_channel(server, tls.credentials(), options)
            if tls
            else grpc.aio.insecure_channel(server, options)
        )
        self._token = token
        self._timeout = timeout
        self._retry = retry
        self._translation = pb_grpc.TranslationServiceStub(self._channel)
        self._models = pb_grpc.ModelServiceStub(self._channel)

    @classmethod
    def from_environment(cls, **arguments: Any) -> Client:
        """A client configured by DRAGOMAN_SERVER, DRAGOMAN_TOKEN, DRAGOMAN_TLS_CA and so on."""
        return cls(**{**connection.from_environment(), **arguments})

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def translate_text(self, text: str, **fields: Unpack[TranslateFields]) -> str:
        """The best translation of one text."""
        return (await self.translate_texts([text], **fields))[0]

    async def translate_texts(self, texts: Sequence[str], **fields: Unpack[TranslateFields]) -> list[str]:
        """The best translation of each text, in order."""
        translations = (await self.translate(texts, **fields)).translations
        return [translation.hypotheses[0].text for translation in translations]

    async def translate(
        self, contents: Contents, **fields: Unpack[TranslateFields]
    ) -> pb.TranslateResponse:
        """Hypotheses, scores and timing for one or several texts."""
        request = requests.translate_request(contents, fields)
        return await self._call(self._translation.Translate, request)

    async def translate_stream(
        self, contents: Contents, **fields: Unpack[TranslateFields]
    ) -> AsyncIterator[pb.TranslateStreamResponse]:
        """Streams text as it becomes final, and each translation when it is done.

        Close the iterator (aclose) to cancel the call.
        """
        request = requests.translate_request(contents, fields)
        deadline = self._deadline()
        attempt = 0
        while True:
            attempt += 1
            call = self._translation.TranslateStream(request, **self._settings(deadline))
            arrived = False
            try:
                async for response in call:
                    arrived = True
                    yield response
                return
            except grpc.RpcError as error:
                failure = errors.from_rpc_error(error)
                if arrived:
                    raise failure from error
                await self._wait(failure, attempt, deadline)
            finally:
                call.cancel()

    async def translate_bulk(
        self,
        items: Union[Iterable[BulkItem], AsyncIterable[BulkItem]],
        **fields: Unpack[TranslateFields],
    ) -> AsyncIterator[tuple[str, Union[pb.TranslateResponse, DragomanError]]]:
        """Like dragoman.Client.translate_bulk; the items may be an asynchronous iterable."""
        feed = _Feed(items, fields)
        attempt = 0
        while True:
            attempt += 1
            call = self._translation.TranslateBulk(**self._settings(None))
            writer = asyncio.ensure_future(feed.write(call))
            try:
                async for response in call:
                    attempt = 1
                    feed.answered(response.id)
                    if response.WhichOneof("result") == "response":
                        yield response.id, response.response
                    else:
                        yield response.id, errors.from_bulk(response.error)
                await writer
                return
            except grpc.RpcError as error:
                if feed.failure is not None:
                    raise feed.failure from None
                # It must have left the iterable before the next attempt reads the rest.
                await feed.stop(writer)
                await self._wait(errors.from_rpc_error(error), attempt, None)
            except asyncio.CancelledError:
                if feed.failure is None:
                    raise
                raise feed.failure from None
            finally:
                writer.cancel()
                call.cancel()

    async def score(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        model: str = "",
        source_language: str = "",
        target_language: str = "",
    ) -> pb.ScoreResponse:
        """The log-probabilities of existing translations, given as (source, target) pairs."""
        fields = {"model": model, "source_language": source_language, "target_language": target_language}
        return await self._call(self._translation.Score, requests.score_request(pairs, fields))

    async def tokenize(
        self,
        contents: Contents,
        *,
        model: str = "",
        source_language: str = "",
        target_language: str = "",
        target: bool = False,
    ) -> pb.TokenizeResponse:
        """The tokens that a model sees for each text."""
        request = pb.TokenizeRequest(
            contents=requests.texts(contents),
            model=model,
            source_language=source_language,
            target_language=target_language,
            target=target,
        )
        return await self._call(self._translation.Tokenize, request)

    async def models(self) -> list[pb.Model]:
        """The served models."""
        return list((await self._call(self._models.ListModels, pb.ListModelsRequest())).models)

    async def model(self, name: str = "") -> pb.Model:
        """One model; the default one without a name."""
        return await self._call(self._models.GetModel, pb.GetModelRequest(name=name))

    async def _call(self, method: Callable[..., Any], request: Any) -> Any:
        deadline = self._deadline()
        attempt = 0
        while True:
            attempt += 1
            try:
                return await method(request, **self._settings(deadline))
            except grpc.RpcError as error:
                await self._wait(errors.from_rpc_error(error), attempt, deadline)

    def _deadline(self) -> Optional[float]:
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _settings(self, deadline: Optional[float]) -> dict[str, Any]:
        timeout = None if deadline is None else deadline - time.monotonic()
        return {"timeout": timeout, "metadata": connection.metadata(self._token)}

    async def _wait(self, error: DragomanError, attempt: int, deadline: Optional[float]) -> None:
        """Waits for the next attempt, or raises the error if there is none."""
        time_left = None if deadline is None else deadline - time.monotonic()
        delay = self._retry.delay(error, attempt, time_left)
        if delay is None:
            raise error
        await asyncio.sleep(delay)


class _Feed:
    """Writes the requests of a bulk call: those not answered yet, then the rest of the iterable."""

    def __init__(self, items: Any, fields: Any) -> None:
        self._items = _each(items)
        self._fields = fields
        self._number = 0
        self._pending: dict[str, pb.TranslateBulkRequest] = {}
        #: What the iterable raised.
        self.failure: Optional[BaseException] = None
        self._next: Optional[asyncio.Future[Any]] = None

    def answered(self, name: str) -> None:
        self._pending.pop(name, None)

    async def stop(self, writer: asyncio.Future[None]) -> None:
        writer.cancel()
        await asyncio.wait([writer])

    async def write(self, call: Any) -> None:
        for request in list(self._pending.values()):
            await call.write(request)
        while True:
            try:
                item = await self._take()
                request = requests.bulk_request(item, self._number, self._fields)
                if request.id in self._pending:
                    raise ValueError(f"two requests have the id {request.id!r}")
            except StopAsyncIteration:
                break
            except asyncio.CancelledError:
                raise
            except BaseException as failure:
                self.failure = failure
                call.cancel()
                return
            self._number += 1
            self._pending[request.id] = request
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
