"""The synchronous client: dragoman.Client.  clients/generate.sh makes it from aio.py."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterator, Callable, Iterable, Optional, Sequence, Union

import grpc

from dragoman import connection, errors, requests
from dragoman.connection import Tls, Token
from dragoman.errors import DragomanError
from dragoman.feed import Feed
from dragoman.requests import BulkItems, Contents, TranslateFields
from dragoman.retry import Retry
from dragoman.v1 import translation_pb2 as pb
from dragoman.v1 import translation_pb2_grpc as pb_grpc

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
        translations = self.translate_texts([text], **fields)
        return translations[0]

    def translate_texts(self, texts: Sequence[str], **fields: Unpack[TranslateFields]) -> list[str]:
        """The best translation of each text, in order."""
        response = self.translate(texts, **fields)
        return [translation.hypotheses[0].text for translation in response.translations]

    def translate(
        self, contents: Contents, **fields: Unpack[TranslateFields]
    ) -> pb.TranslateResponse:
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
        self, items: BulkItems, **fields: Unpack[TranslateFields]
    ) -> Iterator[tuple[str, Union[pb.TranslateResponse, DragomanError]]]:
        """Sends any number of requests over one call; yields (id, answer or error) as each is done.

        An item is a text (to which `fields` apply), a TranslateRequest, or an (id, item) pair of an id and
        one of these.  Without an id, its index is used: "0", "1" and so on.  Items are taken only as fast
        as the server accepts them.  If the connection is lost, unanswered requests are sent again.  There
        is no timeout.
        """
        feed = Feed(items, fields)
        attempt = 0
        while True:
            attempt += 1
            try:
                with feed.call(self._translation.TranslateBulk, self._settings(None)) as call:
                    for response in call:
                        attempt = 1
                        feed.answered(response.id)
                        if response.WhichOneof("result") == "response":
                            yield response.id, response.response
                        else:
                            yield response.id, errors.from_bulk(response.error)
                return
            except grpc.RpcError as error:
                if error is feed.failure:
                    raise
                self._wait(errors.from_rpc_error(error), attempt, None)

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
        response = self._call(self._models.ListModels, pb.ListModelsRequest())
        return list(response.models)

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
