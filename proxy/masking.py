"""Text of models and clients made fit for people and logs: credentials masked, one line; pure.

Masking goes by form, so it errs on the side of hiding: a long random identifier that is no
secret may be hidden too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

MASK = "[masked]"
ELLIPSIS = "…"
# Characters looked at on either side of a hit, so that a credential is seen whole before the cut.
CONTEXT = 4096
_MOST_LABELS = 256  # of which it is remembered how they are shown

_NAMED = re.compile(
    r"""
      -----BEGIN\ [A-Z0-9 ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z0-9 ]*PRIVATE\ KEY-----|\Z)
    | \A(?:(?!-----BEGIN)[\s\S])*?-----END\ [A-Z0-9 ]*PRIVATE\ KEY-----
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*    # JWT, JWE
    | \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}                                   # model APIs, Stripe
    | \b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|gsk_|xai-|r8_|pypi-)[A-Za-z0-9_-]{8,}
    | \bxox[a-z]-[A-Za-z0-9-]{8,}
    | \b(?:AIza|ya29\.)[A-Za-z0-9_-]{16,}
    | \bSG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    | \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}
    | (?<=://)[^\s/?\#'"]{1,256}@                                           # userinfo of a URL
    | (?i:\bBearer\s+)(?P<bearer>[A-Za-z0-9._~+/=-]{8,})
    | (?i:\bBasic\s+)(?P<basic>(?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}={0,2})
    | (?i:\bauthorization["']?\s*[:=]\s*["']?(?:[a-z]+\s+)?)(?P<header>[^\s"',;]{4,})
    | (?i:(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_-]?key|access[_-]?key
          |private[_-]?key|secret[_-]?key|account[_-]?key|auth[_-]?key)[a-z0-9_]{0,16})
      (?: ["'\\]{0,3}\s{0,4}[:=]\s{0,4}
          (?: \\?"(?P<double>[^"\\\n]{4,})
            | \\?'(?P<single>[^'\\\n]{4,})
            | (?P<digits>(?=[^\s'"(){}<>,;&]*[0-9])[^\s'"(){}<>,;&]{6,}+)(?!\()
            | (?P<long>[^\s'"(){}<>,;&]{12,}+)(?!\() )
        | =(?P<plain>[^\s'"(){}<>,;&]{4,}+)(?!\() )
    """,
    re.VERBOSE,
)
# The second form is a line of base64, which may hold slashes as a path does.
_LONG_TOKEN = re.compile(
    r"(?<![A-Za-z0-9+_-])[A-Za-z0-9+_-]{32,}={0,2}|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}={0,2}"
)
_HEX = re.compile(r"(?=[a-fA-F]*[0-9])[0-9a-fA-F]{32,}\Z")
# Control characters, line separators, direction overrides and surrogate halves.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def redact(text: str) -> str:
    """`text` with everything masked that has the form of a credential; lines stay."""
    return "".join(
        MASK if secret else text[start:end]
        for start, end, secret in _spans(text, long_tokens=False)
    )


def single_line(text: str) -> str:
    """`text` on one line, as long as before: line ends visible, controls drawn, no surrogates."""
    return _UNPRINTABLE.sub(_drawn, text)


def label(text: str, limit: int = 256) -> str:
    """Show a name, id or path from outside: one line, bounded, known credentials masked."""
    return _label(text[: limit + CONTEXT], limit)


@lru_cache(_MOST_LABELS)
def _label(text: str, limit: int) -> str:
    """Agents, models and directories are few, and all rows name them."""
    return _cut(single_line(redact(text)), 0, limit)


def excerpt(text: str, limit: int, start: int = 0, end: int | None = None) -> str:
    """At most `limit` characters around the hit `text[start:end]`: masked, on one line.

    Credentials are masked before the cut, so none is left in half at a border. Never raises.
    """
    start = min(max(start, 0), len(text))
    end = start if end is None else min(max(end, start), start + CONTEXT, len(text))
    left = max(0, start - CONTEXT)
    shown: list[str] = []
    length = at = until = 0
    for first, last, secret in _spans(text[left : end + CONTEXT], long_tokens=True):
        piece = MASK if secret else text[left + first : left + last]
        if first <= start - left:
            at = length if secret else length + min(start - left - first, len(piece))
        if first < end - left:
            until = length + (len(piece) if secret else min(end - left - first, len(piece)))
        shown.append(piece)
        length += len(piece)
    whole = single_line("".join(shown))
    begin = max(0, min(at - max(0, limit - max(0, until - at)) // 2, length - limit))
    return _cut(whole, begin, limit)


def url(text: str) -> str:
    """Show a URL without user, password, query and fragment; nothing of what is not a URL."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return MASK
    return label(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")))


def _cut(text: str, begin: int, limit: int) -> str:
    if limit <= 0:
        return ""
    piece = text[begin : begin + limit]
    if begin > 0:
        piece = ELLIPSIS + piece[1:]
    if begin + limit < len(text):
        piece = piece[:-1] + ELLIPSIS
    return piece


def _spans(text: str, *, long_tokens: bool) -> Iterator[tuple[int, int, bool]]:
    """`text` in pieces (start, end, is it a secret), in order and without gaps."""
    done = 0
    for start, end in _secrets(text, long_tokens=long_tokens):
        if end <= done:
            continue
        if start > done:
            yield done, start, False
        yield max(start, done), end, True
        done = end
    if done < len(text):
        yield done, len(text), False


def _secrets(text: str, *, long_tokens: bool) -> list[tuple[int, int]]:
    found = [match.span(match.lastgroup or 0) for match in _NAMED.finditer(text)]
    if long_tokens:
        found += [match.span() for match in _LONG_TOKEN.finditer(text) if _random(match[0])]
    return sorted(found)


def _random(token: str) -> bool:
    """Hex digits only, or digits and both cases mixed: keys and hashes, not words joined."""
    digits = sum(character.isdigit() for character in token)
    upper = sum(character.isupper() for character in token)
    lower = sum(character.islower() for character in token)
    return min(digits, upper, lower) >= 2 or _HEX.match(token) is not None  # noqa: PLR2004 - names such as `Utf8` have one


def _drawn(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    return chr(0x2400 + ord(character)) if character < " " else "\ufffd"
