"""The settings' file while the proxy runs: whether it says something new, and what counts of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proxy.config import Settings
from proxy.disk import Mark, mark

# What is followed; `ttsr` stands for the whole block. All else is read at the start alone.
_FOLLOWED = ("enabled", "trust", "ttsr")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """Where the settings' file is looked for, and how to read all settings again.

    `places`: the first where a file is, is it, so that one that is made nearer by counts too.
    `started_with`: what stays in force where only a restart changes it. `read` is called on a
    thread and may raise ConfigError.
    """

    places: tuple[Path, ...]
    started_with: Settings
    read: Callable[[], Settings]

    def marks(self) -> tuple[Mark, ...]:
        """Take what changes when the file says something else, or when another is the one."""
        marks: list[Mark] = []
        for place in self.places:
            marks.append(mark(str(place)))
            if place.is_file():
                break
        return tuple(marks)

    def waiting(self, settings: Settings) -> tuple[str, ...]:
        """Name the keys whose values in these settings would need a restart."""
        before, now = dict(_values(self.started_with)), dict(_values(settings))
        keys = dict.fromkeys([*before, *now])
        return tuple(
            key
            for key in keys
            if key.partition(".")[0] not in _FOLLOWED and before.get(key) != now.get(key)
        )


def _values(settings: Settings) -> Iterator[tuple[str, object]]:
    yield from _flat(settings.model_dump(by_alias=True))


def _flat(values: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            # A file says `.` by its own directory, the default by the one of the start.
            yield f"{above}{key}", value.absolute() if isinstance(value, Path) else value
