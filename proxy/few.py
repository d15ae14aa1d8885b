"""A queue that mostly holds one item or none; pure.

A `deque` takes 760 bytes while it is empty, and servers and clients of HTTP make some for every
connection; this takes 72. To take out the first of n items costs moving the others.
"""

from __future__ import annotations

from typing import TypeVar

Item = TypeVar("Item")


class Few(list[Item]):
    """A list with what is asked of a deque besides."""

    __slots__ = ()

    def popleft(self) -> Item:
        """Take out the first."""
        return self.pop(0)

    def appendleft(self, item: Item) -> None:
        """Put in front of all others."""
        self.insert(0, item)
