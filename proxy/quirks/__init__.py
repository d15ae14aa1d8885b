"""What each upstream needs from the proxy; one file an upstream.

A `Profile` is data: the wire decoders and the view builder read it, nothing else branches on
which upstream it is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """How an upstream deviates, and what a request to it may carry.

    inline_think: a think block may open the content (`think_tags`).
    start_in_think: the content starts inside one, only the closing tag is streamed.
    cumulative: text pieces repeat everything so far.
    replay_reasoning: messages with calls must carry their reasoning back (DeepSeek, Kimi).
    forbid_reasoning: no message may carry reasoning (Mistral).
    """

    inline_think: bool = False
    start_in_think: bool = False
    cumulative: bool = False
    replay_reasoning: bool = False
    forbid_reasoning: bool = False
    think_tags: tuple[str, ...] = ("think", "thinking", "mm:think")


PLAIN = Profile()
