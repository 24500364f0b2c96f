"""Builds requests from the arguments of a method, for both clients."""

from __future__ import annotations

from typing import Any, AsyncIterable, Iterable, Mapping, Sequence, TypedDict, Union

from dragoman.v1 import translation_pb2 as pb

Contents = Union[str, Sequence[str]]


class TranslateFields(TypedDict, total=False):
    """The fields of a TranslateRequest besides its contents; see translation.proto."""

    source_language: str
    target_language: str
    model: str
    options: Union[pb.DecodingOptions, Mapping[str, Any]]
    output: Union[pb.OutputOptions, Mapping[str, Any]]
    truncation: Union[int, str]  # "TRUNCATION_TRUNCATE"
    sentence_splitting: Union[int, str]  # "SENTENCE_SPLITTING_SENTENCES"
    priority: Union[int, str]  # "PRIORITY_BATCH"
    target_prefixes: Sequence[str]
    markup: Union[int, str]  # "MARKUP_HTML"
    markup_options: Union[pb.MarkupOptions, Mapping[str, Any]]


#: What a bulk call takes for one request: a text, a request, or (id, one of these).
BulkItem = Union[str, pb.TranslateRequest, "tuple[str, Union[str, pb.TranslateRequest]]"]
BulkItems = Iterable[BulkItem]
AsyncBulkItems = Union[Iterable[BulkItem], AsyncIterable[BulkItem]]


def texts(contents: Contents) -> Sequence[str]:
    return [contents] if isinstance(contents, str) else contents


def translate_request(contents: Contents, fields: Mapping[str, Any]) -> pb.TranslateRequest:
    return pb.TranslateRequest(contents=texts(contents), **fields)


def score_request(pairs: Iterable[tuple[str, str]], fields: Mapping[str, Any]) -> pb.ScoreRequest:
    wanted = [pb.ScorePair(source=source, target=target) for source, target in pairs]
    return pb.ScoreRequest(pairs=wanted, **fields)


def bulk_request(item: BulkItem, number: int, fields: Mapping[str, Any]) -> pb.TranslateBulkRequest:
    """`fields` apply to items that are texts; the id of an item without one is its index."""
    name, content = item if isinstance(item, tuple) else (str(number), item)
    if isinstance(content, str):
        content = translate_request(content, fields)
    return pb.TranslateBulkRequest(id=name, request=content)
