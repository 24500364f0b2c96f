"""When to retry a failed call."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Optional

from dragoman.errors import DragomanError, ResourceExhausted, Unavailable


@dataclass(frozen=True)
class Retry:
    """Calls are made up to `attempts` times, and never beyond their timeout.

    UNAVAILABLE is always retried, because the call had no effect; RESOURCE_EXHAUSTED only if the server names
    a delay, because it may also mean a message that is too large.
    """

    attempts: int = 6
    initial_backoff: float = 0.2  # seconds; each next one is twice as long
    max_backoff: float = 5.0

    def delay(self, error: DragomanError, attempt: int, time_left: Optional[float]) -> Optional[float]:
        """Seconds to wait after the `attempt`-th failure (counted from 1), or None to give up."""
        if attempt >= self.attempts:
            return None
        if isinstance(error, ResourceExhausted):
            if error.retry_delay is None:
                return None
        elif not isinstance(error, Unavailable):
            return None
        backoff = min(self.initial_backoff * 2 ** (attempt - 1), self.max_backoff)
        # Randomized, so that clients that were refused together do not retry together.
        delay = max(error.retry_delay or 0.0, backoff * random.uniform(0.5, 1.0))
        if time_left is not None and delay >= time_left:
            return None
        return delay
