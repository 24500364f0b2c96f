"""Makes dragoman/client.py from dragoman/aio.py: prints the client without asyncio.

    python3 unasync.py <dragoman/aio.py >dragoman/client.py      # clients/generate.sh does it

Each client is written once, for asyncio; without the keywords and the names of asyncio it is the synchronous
one:

    async def close(self) -> None:              def close(self) -> None:
        await self._channel.close()                 self._channel.close()

What differs by more than names (how the requests of a bulk call are fed to gRPC) is in feed.py: two classes
with the same methods, AsyncFeed and Feed.
"""

import re
import sys

#: What aio.py says, and what client.py says instead; in this order.
REPLACEMENTS = (
    (r'^"""The client for asyncio: dragoman\.aio\.Client\."""$',
     '"""The synchronous client: dragoman.Client.  clients/generate.sh makes it from aio.py."""'),
    (r"  Bound to the event loop in which it is created\.$", "  Thread-safe."),
    (r"^ *`items` may be an asynchronous iterable\.\n", ""),
    (r"Close the iterator \(aclose\)", "Stop iterating, or close the iterator,"),
    (r"^import (asyncio|grpc\.aio)\n", ""),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bgrpc\.aio\.", "grpc."),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\bAsync([A-Z])", r"\1"),
)
#: What asyncio alone understands, of which nothing may be left.
LEFT = re.compile(r".*(\basync\b|\bawait\b|asyncio|\b__a[a-z]+__).*")


def synchronous(source: str) -> str:
    for wanted, replacement in REPLACEMENTS:
        source, replaced = re.subn(wanted, replacement, source, flags=re.MULTILINE)
        if not replaced:
            raise ValueError(f"aio.py has nothing like {wanted}")
    left = LEFT.search(source)
    if left:
        raise ValueError(f"no replacement for: {left[0].strip()}")
    return source


if __name__ == "__main__":
    sys.stdout.write(synchronous(sys.stdin.read()))
