"""What a turn in progress has injected so far; becomes its splice at the end; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from proxy.conversation import Message
from proxy.splice import Delivery, Kept, Note, Placement, Splice, ToolNote, flipped


@dataclass(frozen=True, slots=True)
class Pending:
    """Grows with each decision; every method returns the next value.

    `user` renders a user message for the wire API. `tail`: role of the message on which the
    client's conversation ends.
    """

    user: Callable[[str], bytes]
    tail: str
    splice: Splice = field(default_factory=Splice)

    @staticmethod
    def behind(messages: Sequence[Message], user: Callable[[str], bytes]) -> Pending:
        """Start a turn behind the client's conversation."""
        return Pending(user, messages[-1].role if messages else "")

    @property
    def before(self) -> tuple[Kept | Note, ...]:
        """What the next attempt's request carries behind the client's conversation."""
        return self.splice.before

    def interrupted(
        self, text: str, delivers: Sequence[Delivery], *, partial: bytes = b""
    ) -> Pending:
        """Add a cut attempt; `partial`: its kept part, rendered, or empty (discarded).

        Behind an assistant message that the client wants continued nothing can be kept: two
        assistant messages would follow each other.
        """
        keeps = bool(partial) and not (self.tail == "assistant" and not self.splice.before)
        kept = (Kept(partial, partial=True),) if keeps else ()
        merged = (
            self.tail == "user"
            and not kept
            and not any(isinstance(piece, Kept) for piece in self.splice.before)
        )
        note = self._note(text, delivers, Placement.INTO_USER if merged else Placement.OWN)
        return self._with(before=(*self.splice.before, *kept, note))

    def refused(self, messages: Sequence[bytes], delivers: Sequence[Delivery]) -> Pending:
        """Add a finished message that stays here: it and the answers to all its calls, rendered.

        `delivers`: what the answers tell beyond the refusal itself, which is no delivery.
        """
        kept = [Kept(rendered) for rendered in messages]
        kept[-1] = replace(kept[-1], delivers=tuple(delivers))
        return self._with(before=(*self.splice.before, *kept))

    def abandoned(self, text: str, reasoning: str = "") -> Pending:
        """Add what the client saw of the attempt just ended, the seam behind it included."""
        return self._with(
            strip=self.splice.strip + text,
            strip_reasoning=self.splice.strip_reasoning + reasoning,
        )

    def reminded(self, text: str, delivers: Sequence[Delivery]) -> Pending:
        """Add a note behind the accepted message and its results."""
        note = self._note(text, delivers, Placement.OWN)
        return self._with(after=(*self.splice.after, note))

    def reminded_of_call(
        self,
        position: int,
        name: str,
        text: str,
        delivers: Sequence[Delivery],
        placement: Placement = Placement.INTO_TOOL,
    ) -> Pending:
        """Add a note in front of the result of one call of the accepted message.

        `placement` `OWN`: in a message of its own behind all results of the batch.
        """
        tool_note = ToolNote(position, name, self._note(text, delivers, placement))
        return self._with(tool_notes=(*self.splice.tool_notes, tool_note))

    def restored(self, fields: bytes) -> Pending:
        """Keep fields of the accepted message that the client was not shown (a JSON object)."""
        return self._with(restore=fields)

    def flipped(self) -> Pending:
        """Choose the other placement, after an upstream refused this one."""
        return replace(self, splice=flipped(self.splice))

    def finish(self, released: str, *, head: bool = False) -> Splice | None:
        """Make the turn's splice, or None where it left nothing.

        `released`: all text that the client got. `head`: it left before the end.
        """
        if self.splice == Splice():
            return None
        if head:
            return replace(self.splice, head=True, released=released)
        return self.splice

    def _note(self, text: str, delivers: Sequence[Delivery], placement: Placement) -> Note:
        return Note(text, self.user(text), placement, tuple(delivers))

    def _with(self, **changes: object) -> Pending:
        return replace(self, splice=replace(self.splice, **changes))  # type: ignore[arg-type]
