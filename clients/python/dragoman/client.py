"""The synchronous client."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, TypeVar, Union

import grpc

from dragoman import connection, errors, requests
from dragoman.connection import Tls, Token
from dragoman.errors import DragomanError
from dragoman.requests import BulkItem, Contents, TranslateFields
from dragoman.retry import Retry
from dragoman.v1 import translation_pb2 as pb
from dragoman.v1 import translation_pb2_grpc as pb_grpc

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class Client:
    """Calls one server, or all servers of one name in turn.  Thread-safe.

    `timeout` is in seconds, for each call including all its attempts; None means no limit.  Calls raise
    DragomanError.
    """

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
            grpc.secure_channel(server, tls.credentials(), options)
            if tls
            else grpc.insecure_channel(server, options)
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

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def translate_text(self, text: str, **fields: Unpack[TranslateFields]) -> str:
        """The best translation of one text."""
        return self.translate_texts([text], **fields)[0]

    def translate_texts(self, texts: Sequence[str], **fields: Unpack[TranslateFields]) -> list[str]:
        """The best translation of each text, in order."""
        translations = self.translate(texts, **fields).translations
        return [translation.hypotheses[0].text for translation in translations]

    def translate(self, contents: Contents, **fields: Unpack[TranslateFields]) -> pb.TranslateResponse:
        """Hypotheses, scores and timing for one or several texts."""
        request = requests.translate_request(contents, fields)
        return self._call(self._translation.Translate, request)

    def translate_stream(
        self, contents: Contents, **fields: Unpack[TranslateFields]
    ) -> Iterator[pb.TranslateStreamResponse]:
        """Streams text as it becomes final, and each translation when it is done.

        Stop iterating, or close the iterator, to cancel the call.
        """
        request = requests.translate_request(contents, fields)
        deadline = self._deadline()
        attempt = 0
        while True:
            attempt += 1
            call = self._translation.TranslateStream(request, **self._settings(deadline))
            arrived = False
            try:
                for response in call:
                    arrived = True
                    yield response
                return
            except grpc.RpcError as error:
                failure = errors.from_rpc_error(error)
                if arrived:
                    raise failure from error
                self._wait(failure, attempt, deadline)
            finally:
                call.cancel()

    def translate_bulk(
        self, items: Iterable[BulkItem], **fields: Unpack[TranslateFields]
    ) -> Iterator[tuple[str, Union[pb.TranslateResponse, DragomanError]]]:
        """Sends any number of requests over one call; yields (id, answer or error) as each is done.

        An item is a text (to which `fields` apply), a TranslateRequest, or an (id, item) pair of an id and
        one of these.  Without an id, its index is used: "0", "1" and so on.  Items are taken only as fast
        as the server accepts them.  If the connection is lost, unanswered requests are sent again.  There
        is no timeout.
        """
        feed = _Feed(items, fields)
        attempt = 0
        while True:
            attempt += 1
            call = self._translation.TranslateBulk(feed.start(), **self._settings(None))
            try:
                for response in call:
                    attempt = 1
                    feed.answered(response.id)
                    if response.WhichOneof("result") == "response":
                        yield response.id, response.response
                    else:
                        yield response.id, errors.from_bulk(response.error)
                return
            except grpc.RpcError as error:
                if feed.failure is not None:
                    raise feed.failure from None
                self._wait(errors.from_rpc_error(error), attempt, None)
            finally:
                call.cancel()

    def score(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        model: str = "",
        source_language: str = "",
        target_language: str = "",
    ) -> pb.ScoreResponse:
        """The log-probabilities of existing translations, given as (source, target) pairs."""
        fields = {"model": model, "source_language": source_language, "target_language": target_language}
        return self._call(self._translation.Score, requests.score_request(pairs, fields))

    def tokenize(
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
        return self._call(self._translation.Tokenize, request)

    def models(self) -> list[pb.Model]:
        """The served models."""
        return list(self._call(self._models.ListModels, pb.ListModelsRequest()).models)

    def model(self, name: str = "") -> pb.Model:
        """One model; the default one without a name."""
        return self._call(self._models.GetModel, pb.GetModelRequest(name=name))

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        deadline = self._deadline()
        attempt = 0
        while True:
            attempt += 1
            try:
                return method(request, **self._settings(deadline))
            except grpc.RpcError as error:
                self._wait(errors.from_rpc_error(error), attempt, deadline)

    def _deadline(self) -> Optional[float]:
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _settings(self, deadline: Optional[float]) -> dict[str, Any]:
        timeout = None if deadline is None else deadline - time.monotonic()
        return {"timeout": timeout, "metadata": connection.metadata(self._token)}

    def _wait(self, error: DragomanError, attempt: int, deadline: Optional[float]) -> None:
        """Waits for the next attempt, or raises the error if there is none."""
        time_left = None if deadline is None else deadline - time.monotonic()
        delay = self._retry.delay(error, attempt, time_left)
        if delay is None:
            raise error
        time.sleep(delay)


class _Feed:
    """The requests of a bulk call: those not answered yet, then the rest of the iterable.

    gRPC reads them in a separate thread for each attempt.  The thread of a failed attempt may still be in
    the iterable's next(); the lock makes the next attempt wait for it.
    """

    def __init__(self, items: Iterable[BulkItem], fields: Any) -> None:
        self._items = enumerate(items)
        self._fields = fields
        self._lock = threading.Lock()
        self._pending: dict[str, pb.TranslateBulkRequest] = {}
        self._attempt = 0
        #: What the iterable raised.
        self.failure: Optional[BaseException] = None

    def start(self) -> Iterator[pb.TranslateBulkRequest]:
        self._attempt += 1
        return self._requests(self._attempt)

    def answered(self, name: str) -> None:
        self._pending.pop(name, None)

    def _requests(self, attempt: int) -> Iterator[pb.TranslateBulkRequest]:
        with self._lock:
            again = list(self._pending.values())
        yield from again
        while True:
            with self._lock:
                if attempt != self._attempt:
                    return
                try:
                    number, item = next(self._items)
                    request = requests.bulk_request(item, number, self._fields)
                    if request.id in self._pending:
                        raise ValueError(f"two requests have the id {request.id!r}")
                except StopIteration:
                    return
                except BaseException as failure:
                    self.failure = failure
                    raise
                self._pending[request.id] = request
            yield request
