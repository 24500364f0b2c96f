"""Translates with a Dragoman server.

    with dragoman.Client("127.0.0.1:50051") as client:
        print(client.translate_text("Good morning."))

`dragoman.aio.Client` is the same for asyncio.  Messages are those of `dragoman.v1.translation_pb2`.
"""

from dragoman import aio
from dragoman.client import Client
from dragoman.connection import Tls
from dragoman.errors import (
    Cancelled,
    DeadlineExceeded,
    DragomanError,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    Violation,
)
from dragoman.retry import Retry

__version__ = "0.1.0"
__all__ = [
    "Cancelled",
    "Client",
    "DeadlineExceeded",
    "DragomanError",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "PermissionDenied",
    "ResourceExhausted",
    "Retry",
    "Tls",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Violation",
    "aio",
]
