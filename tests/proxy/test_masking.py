"""Masking: what people and logs may see of models' and clients' text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy import masking

SECRETS = [
    "sk-proj-Ab3dEf6hIj9kLm",
    "sk-ant-api03-abcdefgh",
    "sk_live_4eC39HqLyjWDarjtT1",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11AAAAAA0abcdefgh",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdef",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "hf_abcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_redact_masks_a_credential_of_a_known_form(secret: str) -> None:
    """A key is recognised by its own form, whatever stands around it."""
    assert masking.redact(f"use {secret} here") == "use [masked] here"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefghijk", "Authorization: Bearer [masked]"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [masked]"),
        ("Authorization: raw-key-1", "Authorization: [masked]"),
        ('{"authorization": "Token abcd1234"}', '{"authorization": "Token [masked]"}'),
        ("postgres://admin:hunter2@db.local/x", "postgres://[masked]db.local/x"),
        ("https://tok3n@github.com/a/b", "https://[masked]github.com/a/b"),
        ("PASSWORD=hunter2 next", "PASSWORD=[masked] next"),
        ("password: 'correct horse'", "password: '[masked]'"),
        ('"api_key": "abcd-efgh"', '"api_key": "[masked]"'),
        ('{\\"apiKey\\": \\"abcd-efgh\\"}', '{\\"apiKey\\": \\"[masked]\\"}'),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [masked]"),
        ("x-api-key: 0123456789", "x-api-key: [masked]"),
        ("?token=abc123&x=1", "?token=[masked]&x=1"),
    ],
)
def test_redact_masks_the_value_and_keeps_its_name(text: str, shown: str) -> None:
    """What a credential belongs to stays readable."""
    assert masking.redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "const token: any = next()",
        "password = get_password(user)",
        "a basic understanding of bearer tokens",
        "task-scheduler and risk-assessment",
        "https://example.com/a@b",
        "conversation=3f2c9a7e5b1d48f6a0c4e8b2d6f9a1c3",
        "if secret is None: return",
    ],
)
def test_redact_leaves_ordinary_code_and_prose(text: str) -> None:
    """Words that only speak of secrets are not hidden."""
    assert masking.redact(text) == text


@pytest.mark.parametrize("break_", ["\n", "\\n"])
def test_redact_masks_a_private_key_to_its_end(break_: str) -> None:
    """A key block goes whole, written on lines or inside a JSON string."""
    key = break_.join(
        ["-----BEGIN RSA PRIVATE KEY-----", "MIIEow", "AAAA", "-----END RSA PRIVATE KEY-----"]
    )
    assert masking.redact(f"a {key} b") == "a [masked] b"


def test_redact_masks_a_private_key_that_lacks_an_end() -> None:
    """A block that was cut is masked as far as it goes."""
    assert masking.redact("x -----BEGIN PRIVATE KEY-----\nMIIE\nAAAA") == "x [masked]"


def test_redact_masks_a_private_key_that_lacks_a_beginning() -> None:
    """The tail of a block is masked too."""
    assert masking.redact("AAAA\n-----END PRIVATE KEY----- rest") == "[masked] rest"


def test_excerpt_masks_long_random_tokens_of_no_known_form() -> None:
    """Hashes and keys without a prefix are hidden in an excerpt; long words are not."""
    text = "f00dfacef00dfacef00dfacef00dface a_very_long_function_name_with_many_words_in_it"
    assert masking.excerpt(text, 200) == (
        "[masked] a_very_long_function_name_with_many_words_in_it"
    )


def test_excerpt_masks_a_line_of_base64_but_no_path() -> None:
    """The middle of a key block has slashes, as a path has."""
    line = "MIIEpAIBAAKCAQEA7bq/" * 3 + "Zx9+"
    assert masking.excerpt(f"a {line} b", 200) == "a [masked] b"
    path = "src/components/forms/inputs/Date/Range2/index.ts"
    assert masking.excerpt(path, 200) == path


def test_excerpt_centres_the_hit_and_marks_both_cuts() -> None:
    """The hit stands in the middle of what is shown."""
    text = "a" * 500 + " : any " + "b" * 500
    shown = masking.excerpt(text, 20, 501, 506)
    assert shown == "…aaaaa : any bbbbbb…"


def test_excerpt_never_shows_half_a_credential() -> None:
    """A key that the cut would have halved was masked before."""
    text = "x" * 300 + " sk-abcdefghijklmnopqrstuvwxyz HIT " + "y" * 300
    at = text.index("HIT")
    for limit in range(1, 60):
        shown = masking.excerpt(text, limit, at, at + 3)
        assert "abcdefg" not in shown
        assert "xyz" not in shown


def test_excerpt_of_a_hit_inside_a_credential_shows_the_mask() -> None:
    """A rule that finds hard-coded keys does not publish them."""
    text = "key " + "sk-abcdefghijklmnop" + " end"
    assert masking.excerpt(text, 100, 7, 12) == "key [masked] end"


def test_excerpt_draws_line_ends_and_controls_on_one_line() -> None:
    """Nothing of a model's text moves a terminal's cursor."""
    assert masking.excerpt("a\r\nb\tc\x1b[2Jd\u2028e\ud800", 100) == "a␍⏎b c␛[2Jd\ufffde\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:pw@api.example.com/v1?key=1#x", "https://api.example.com/v1"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("http://[bad", "[masked]"),
    ],
)
def test_url_shows_where_without_who(text: str, shown: str) -> None:
    """An upstream is shown without credentials, query and fragment."""
    assert masking.url(text) == shown


def test_label_is_bounded() -> None:
    """A name from outside cannot fill the audit."""
    assert masking.label("a" * 999, 10) == "aaaaaaaaa…"


@settings(max_examples=200)
@given(
    text=st.text(st.characters(exclude_categories=()), max_size=300),
    limit=st.integers(-2, 200),
    start=st.integers(-5, 400),
    end=st.none() | st.integers(-5, 400),
)
def test_excerpt_keeps_its_limit_whatever_the_text(
    text: str, limit: int, start: int, end: int | None
) -> None:
    """Masking never raises, never grows beyond the limit, and the result is one encodable line."""
    shown = masking.excerpt(text, limit, start, end)
    assert len(shown) <= max(0, limit)
    assert shown.encode().decode() == shown
    assert len(shown.splitlines()) <= 1


@settings(max_examples=100)
@given(
    before=st.text(max_size=200),
    after=st.text(max_size=200),
    secret=st.sampled_from(SECRETS),
    limit=st.integers(1, 160),
    start=st.integers(0, 500),
)
def test_excerpt_never_shows_a_planted_credential(
    before: str, after: str, secret: str, limit: int, start: int
) -> None:
    """No cut and no surroundings bring a key of a known form back."""
    shown = masking.excerpt(f"{before} {secret} {after}", limit, start, start + 3)
    assert secret[-8:] not in shown
