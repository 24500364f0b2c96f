"""The errors of calls.

The server explains an error with a google.rpc.Status in the trailing metadata: which field is wrong, how
long to wait before a retry.  It is parsed with a separate descriptor pool, so that a program can also use
googleapis-common-protos, which defines the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Optional

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


@dataclass(frozen=True)
class Violation:
    """A field of a request that the server rejected, such as `contents[3]`."""

    field: str
    description: str


class DragomanError(Exception):
    """A call that failed.  Each of the server's codes has its own subclass."""

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN

    def __init__(
        self,
        message: str,
        *,
        violations: Iterable[Violation] = (),
        retry_delay: Optional[float] = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.violations = tuple(violations)
        #: Seconds that the server wants the client to wait before a retry, if it said so.
        self.retry_delay = retry_delay
        #: The id of the call in the server's log.
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


class InvalidArgument(DragomanError):
    code = grpc.StatusCode.INVALID_ARGUMENT


class NotFound(DragomanError):
    code = grpc.StatusCode.NOT_FOUND


class FailedPrecondition(DragomanError):
    code = grpc.StatusCode.FAILED_PRECONDITION


class ResourceExhausted(DragomanError):
    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unavailable(DragomanError):
    code = grpc.StatusCode.UNAVAILABLE


class DeadlineExceeded(DragomanError):
    code = grpc.StatusCode.DEADLINE_EXCEEDED


class Cancelled(DragomanError):
    code = grpc.StatusCode.CANCELLED


class Unauthenticated(DragomanError):
    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDenied(DragomanError):
    code = grpc.StatusCode.PERMISSION_DENIED


class Unimplemented(DragomanError):
    code = grpc.StatusCode.UNIMPLEMENTED


class Internal(DragomanError):
    code = grpc.StatusCode.INTERNAL


_CLASSES = {cls.code: cls for cls in DragomanError.__subclasses__()}
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def _detail_classes() -> dict[str, Any]:
    """The classes of google.rpc's messages by their full names."""
    files = descriptor_pb2.FileDescriptorSet.FromString(
        (Path(__file__).parent / "error_details.binpb").read_bytes()
    )
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    names = [
        f"{file.package}.{message.name}"
        for file in files.file
        if file.package == "google.rpc"
        for message in file.message_type
    ]
    descriptors = {name: pool.FindMessageTypeByName(name) for name in names}
    if hasattr(message_factory, "GetMessageClass"):  # protobuf 4.22 and later
        return {name: message_factory.GetMessageClass(d) for name, d in descriptors.items()}
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(d) for name, d in descriptors.items()}


_DETAILS = _detail_classes()


def from_bulk(error: Any) -> DragomanError:
    """The error of one request of a bulk call: a dragoman.v1.Error."""
    violations = [Violation(error.field, error.message)] if error.field else []
    delay = error.retry_delay if error.HasField("retry_delay") else None
    return _of(_CODES.get(error.code, grpc.StatusCode.UNKNOWN))(
        error.message,
        violations=violations,
        retry_delay=None if delay is None else delay.seconds + delay.nanos / 1e9,
    )


def from_rpc_error(error: grpc.RpcError) -> DragomanError:
    """The error for what gRPC raised, with the server's details."""
    trailers = {key: value for key, value in error.trailing_metadata() or ()}
    violations: list[Violation] = []
    retry_delay = None
    for detail in _status_details(trailers.get("grpc-status-details-bin", b"")):
        name = detail.type_url.rsplit("/", 1)[-1]
        if name == "google.rpc.BadRequest":
            bad = _DETAILS[name].FromString(detail.value)
            violations += [Violation(v.field, v.description) for v in bad.field_violations]
        elif name == "google.rpc.RetryInfo":
            delay = _DETAILS[name].FromString(detail.value).retry_delay
            retry_delay = delay.seconds + delay.nanos / 1e9
    return _of(error.code())(
        error.details() or "",
        violations=violations,
        retry_delay=retry_delay,
        request_id=trailers.get("x-request-id", ""),
    )


def _of(code: grpc.StatusCode) -> type[DragomanError]:
    if code in _CLASSES:
        return _CLASSES[code]
    return type("DragomanError", (DragomanError,), {"code": code})


def _status_details(status: bytes) -> Iterable[Any]:
    try:
        return _DETAILS["google.rpc.Status"].FromString(status).details
    except Exception:  # a proxy may have written it: the code and message are still useful
        return ()
