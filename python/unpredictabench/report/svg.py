"""SVG of charts without style sheets or style attributes, for a page whose policy forbids them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK: Final = "#1b1f24"
"""Colour of text and axes; the page puts its own in its place."""
_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "http://www.w3.org/1999/xlink"
_FONT: Final = re.compile(r"(?P<size>[\d.]+)px")


def inline_svg(figure: Figure, title: str, name: str) -> str:
    """Draw a figure as an SVG element for a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    title : str
        What it shows, for those who cannot see it.
    name : str
        Prefix that makes its ids different from those of other charts.

    Returns
    -------
    str
        One element. Styles have become attributes, the ink is `currentColor`, metadata is gone.
    """
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ET.fromstring(out.getvalue())  # noqa: S314 - made by our own plotting library
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"}:
                parent.remove(child)
    for element in root.iter():
        _unstyle(element)
        _rename(element, name)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", title)
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")


def _unstyle(element: ET.Element) -> None:
    """Turn the style of an element into attributes of the same meaning."""
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = (text.strip() for text in part.partition(":"))
        if key == "font":
            size = _FONT.search(value)
            element.set("font-size", size["size"] if size else "10")
        elif key:
            element.set(key, "currentColor" if value.lower() == INK else value)
    if element.tag == f"{{{_SVG}}}text" and "fill" not in element.attrib:
        element.set("fill", "currentColor")


def _rename(element: ET.Element, name: str) -> None:
    """Put a name before every id, and before every reference to one."""
    link = element.attrib.pop(f"{{{_LINK}}}href", None)
    if link is not None:
        element.set("href", f"#{name}-{link.removeprefix('#')}")
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif value.startswith("url(#"):
            element.set(key, value.replace("url(#", f"url(#{name}-"))
