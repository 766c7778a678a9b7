import pytest

from benchyard.show.dark import INK, PAPER, darkened


def colours(*wanted: str) -> str:
    shapes = "".join(f'<path style="fill: {colour}"/>' for colour in wanted)
    return darkened(f"<svg>{shapes}</svg>".encode(), "svg").decode()


def contrast(colour: str, ground: str) -> float:
    """Return the contrast by WCAG 2.2."""

    def light(text: str) -> float:
        shades = [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shades]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(colour), light(ground)))
    return (high + 0.05) / (low + 0.05)


def test_black_and_white_become_those_of_dark_pages() -> None:
    assert colours("#000000", "#ffffff") == colours("#000000", "#FFFFFF")
    assert f"fill: {INK}" in colours("#000000")
    assert f"fill: {PAPER}" in colours("#ffffff")


def test_what_has_no_colour_of_its_own_is_light() -> None:
    assert f'<svg fill="{INK}"' in colours()


@pytest.mark.parametrize(
    "colour", ["#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#CC79A7", "#009E73", "#6d28d9"]
)
def test_colours_are_seen_on_dark_paper(colour: str) -> None:
    found = colours(colour).split("fill: ")[1][:7]
    assert contrast(found, PAPER) >= 4.5


def test_texts_that_look_like_colours_stay() -> None:
    drawn = b'<svg><text style="fill: #000000">fill: #000000</text></svg>'
    assert darkened(drawn, "svg").decode().endswith(">fill: #000000</text></svg>")
