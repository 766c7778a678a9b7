"""XML of other tools is read whole or refused; nothing in it is fetched or expanded."""

import pytest

from benchyard.catalogue.formats.contract import elements
from benchyard.core.errors import InputError

_BENCHEXEC = (
    '<!DOCTYPE result PUBLIC "+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN"'
    ' "https://www.sosy-lab.org/benchexec/result-3.0.dtd">'
)


def test_elements_attributes_and_texts() -> None:
    root = elements(b'<?xml version="1.0"?><a><!-- no --><b c="1 &lt; 2">x &amp; y</b>z<b/></a>')
    assert (root.tag, [one.tag for one in root]) == ("a", ["b", "b"])
    assert (root[0].attrib, root[0].text, root[0].tail) == ({"c": "1 < 2"}, "x & y", "z")


def test_a_document_type_elsewhere_is_not_fetched_and_encodings_are_read() -> None:
    assert elements(f"{_BENCHEXEC}<result/>".encode()).tag == "result"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>µ</a>'
    assert elements(text.encode("latin-1")).text == "µ"


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;',
        f'<!ATTLIST r long CDATA "{"x" * 100}">',
    ],
)
def test_declarations_are_refused(declared: str) -> None:
    with pytest.raises(InputError, match="declares entities"):
        elements(f"<!DOCTYPE r [{declared}]><r>&b;</r>".encode())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no element found: line 1, column 0"),
        (b"<a>\n<b></a>", "mismatched tag: line 2, column 5"),
        (b"<a>\n", "no element found: line 2, column 0"),
        (b"<a/><a/>", "junk after document element: line 1, column 4"),
        (b"<a>&unknown;</a>", "undefined entity: line 1, column 3"),
        (b"<a>\xff</a>", "not well-formed .invalid token.: line 1, column 3"),
        (b'<?xml version="1.0" encoding="x-none"?><a/>', "x-none"),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', "it is no XML"),
        (b"plain text", "syntax error: line 1, column 0"),
    ],
)
def test_damage_is_told_with_its_place(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        elements(content)


def test_nesting_of_any_depth_is_no_crash() -> None:
    depth = 300_000
    assert elements(b"<a>" * depth + b"</a>" * depth).tag == "a"
