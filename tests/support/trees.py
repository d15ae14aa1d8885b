"""A dictionary as a `Tree`: paths to contents, with what cannot be read as such."""

from __future__ import annotations

from collections.abc import Mapping

from rules_engine.discovery import Kind, TreeEntry, Unread


class DictTree:
    """Files by absolute path. A value of `Unread` is a file that is listed and cannot be read."""

    def __init__(self, files: Mapping[str, str | bytes | Unread]) -> None:
        self._files = files
        self.reads: list[str] = []

    def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
        prefix = directory.rstrip("/") + "/"
        below = [path[len(prefix) :] for path in self._files if path.startswith(prefix)]
        kinds = {
            name: Kind.DIRECTORY if rest else Kind.FILE
            for name, _, rest in (path.partition("/") for path in below)
            if name
        }
        return tuple(TreeEntry(name, kind) for name, kind in kinds.items()), ()

    def kind(self, path: str) -> Kind | None:
        if path in self._files:
            return Kind.FILE
        below = any(each.startswith(f"{path.rstrip('/')}/") for each in self._files)
        return Kind.DIRECTORY if below else None

    def read(self, path: str) -> bytes | Unread:
        self.reads.append(path)
        content = self._files[path]
        return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
