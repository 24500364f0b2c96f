"""Tables in Markdown, for model cards."""

from collections.abc import Iterable, Sequence


def escape(text: str) -> str:
    """Escapes `text` so that nothing in it is markup."""
    for character in "\\|*_`[]<>#":
        text = text.replace(character, "\\" + character)
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table: the header, the separator and a line per row."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |"
                     for row in [head, ["---"] * len(head), *rows])
