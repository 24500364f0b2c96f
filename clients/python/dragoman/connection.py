"""The address of the server, and how to connect to it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

import grpc

Token = Union[str, Callable[[], str], None]

DEFAULT_SERVER = "127.0.0.1:50051"


@dataclass(frozen=True)
class Tls:
    """TLS with PEM files.  Without `ca`, the authorities that gRPC trusts by default."""

    ca: Union[str, Path, None] = None
    cert: Union[str, Path, None] = None  # the client certificate, with its private key
    key: Union[str, Path, None] = None
    server_name: Optional[str] = None  # the name in the server's certificate, if it is not the address

    def credentials(self) -> grpc.ChannelCredentials:
        if (self.cert is None) != (self.key is None):
            raise ValueError("Tls: cert and key belong together")
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))


def channel_options(tls: Optional[Tls]) -> list[tuple[str, Any]]:
    service_config = (Path(__file__).parent / "service_config.json").read_text(encoding="utf-8")
    options: list[tuple[str, Any]] = [
        ("grpc.service_config", service_config),
        # retry.py retries, because it can see the server's retry information.
        ("grpc.enable_retries", 0),
        ("grpc.max_receive_message_length", -1),
        ("grpc.primary_user_agent", "dragoman-python/0.1.0"),
    ]
    if tls is not None and tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return options


def metadata(token: Token) -> Optional[list[tuple[str, str]]]:
    value = token() if callable(token) else token
    return [("authorization", f"Bearer {value}")] if value else None


def from_environment() -> dict[str, Any]:
    """The arguments of a client from the environment variables of the `dragoman` command."""
    read = os.environ.get
    paths = {name: read(f"DRAGOMAN_TLS_{name.upper()}") for name in ("ca", "cert", "key", "server_name")}
    on = read("DRAGOMAN_TLS", "").lower() not in ("", "0", "false", "no", "off")
    tls = Tls(**paths) if on or any(paths.values()) else None
    token = read("DRAGOMAN_TOKEN")
    token_file = read("DRAGOMAN_TOKEN_FILE")
    if not token and token_file:
        token = Path(token_file).read_text(encoding="utf-8").strip()
    return {"server": read("DRAGOMAN_SERVER", DEFAULT_SERVER), "tls": tls, "token": token}


def _read(path: Union[str, Path, None]) -> Optional[bytes]:
    return None if path is None else Path(path).read_bytes()
