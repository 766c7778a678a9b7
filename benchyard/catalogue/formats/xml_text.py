"""XML of other tools: its elements, with nothing fetched and nothing expanded."""

from io import BytesIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate

from benchyard.core.errors import InputError


def elements(content: bytes) -> Element:
    """Return the outermost element of a document, with all that are in it.

    What a document type names elsewhere is not fetched. One that declares something itself is
    refused: entities and default attributes turn a small file into gigabytes.

    Raises:
        InputError: If it is no XML, with the line and the column, or declares something.
    """
    builder = TreeBuilder()
    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _without_declarations
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.ParseFile(BytesIO(content))
    # The two last are of an encoding that is unknown, or has characters of several bytes.
    except (ExpatError, LookupError, ValueError) as error:
        raise InputError(f"it is no XML: {error}") from error
    return builder.close()


def _without_declarations(*doctype: object) -> None:
    *_, declares = doctype
    if declares:
        raise InputError("its document type declares entities or attributes, which are not read")
