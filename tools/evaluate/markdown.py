"""Tables in Markdown, for model cards."""

from collections.abc import Iterable, Sequence


def escape(text: str) -> str:
    """`text` as it shall be read: nothing in it is markup."""
    for character in "\\|*_`[]<>#":
        text = text.replace(character, "\\" + character)
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A line for the head, one below it and one for each row."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |"
                     for row in [head, ["---"] * len(head), *rows])
