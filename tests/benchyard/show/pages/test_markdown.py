"""Texts from outside stay texts."""

import base64
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.core.wording import cell, code, inline
from benchyard.show.pages.result import embedded, key_of, link

HOSTILE = [
    *("<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "&lt;b&gt; &#60;", "\\<b>"),
    *(
        "[click](javascript:alert(1))",
        "![x](https://evil.example/x.png)",
        "[a]: javascript:alert(1)",
    ),
    *("<https://evil.example>", "https://evil.example", "www.evil.example", "someone@evil.example"),
    *("a | b", "`code`", "**bold** __bold__ *it* _it_ ~~gone~~", "# head", "- item", "+ item"),
    *("1. item", "2) item", "> quote", "---", "===", "[a]: javascript:alert(1)"),
]
ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*[`*\[\]<>|~&@]")
VALID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_active_is_left(text: str) -> None:
    assert not ACTIVE.search(cell(text))
    assert not re.match(r"[#+=>-]|\d+[.)]\s", cell(text))
    assert not re.search(r"(?<!\\)://", cell(text))
    assert "www." not in cell(text)


@given(st.text())
def test_any_text_is_one_quiet_line(text: str) -> None:
    shown = cell(text)
    assert shown.isprintable()
    assert not ACTIVE.search(shown)
    assert not re.search(r"(?<!\\)://", shown)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_backslashes_taken_off_the_text_is_itself(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", cell(text, 10_000)) == text


def test_link_needs_an_address() -> None:
    assert link("bold-bat", "/runs/flow-run/5") == "[bold-bat](/runs/flow-run/5)"
    assert link("bold-bat", None) == "bold-bat"
    assert link("", "/runs") == ""
    assert link("a](x)[b", "/runs") == "[a\\](x)\\[b](/runs)"


def test_picture_is_part_of_the_page() -> None:
    made = embedded("<svg/>", "run [1]")
    data = made.partition("base64,")[2].rstrip(")\n")
    assert base64.b64decode(data) == b"<svg/>"
    assert made.startswith("![run \\[1\\]](data:image/svg+xml;base64,")


@given(st.text())
def test_any_title_makes_a_key_that_prefect_takes(title: str) -> None:
    assert VALID.fullmatch(key_of("result", title))
    assert len(key_of("result", title)) <= 120


@given(st.text(), st.text())
@example("a_b", "a-b")
@example("x[s=1]", "x[s=10]")
@example("", "-")
def test_two_titles_never_share_a_key(one: str, other: str) -> None:
    assert (key_of("result", one) == key_of("result", other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("sort -n", "`sort -n`"),
        ("a|b", r"`a\|b`"),
        ("a\nb", r"`a\nb`"),
        ("\x1b[31m", r"`\x1b[31m`"),
        ("echo `date`", "`` echo `date` ``"),
        ("a``b", "```a``b```"),
    ],
)
def test_a_command_stays_inside_of_its_code_span(text: str, span: str) -> None:
    assert code(text) == span


def test_a_cell_of_a_table_needs_no_escape_at_its_beginning() -> None:
    assert (inline("+2 %"), cell("+2 %")) == ("+2 %", r"\+2 %")
    assert inline("@you `a`\nb") == r"\@you \`a\` b"
