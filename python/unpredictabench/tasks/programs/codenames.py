"""Plain words for services, files and threads, so that no two suites share a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def words(text: str) -> tuple[str, ...]:
    """Split a text into its words."""
    return tuple(text.split())


TRAITS = words(
    "amber ashen azure brisk bronze candid chalky clever cobalt copper coral crisp dapper dusky "
    "eager early ebony fabled faint fleet floral frosty gentle gilded glossy golden granite "
    "hazel hidden honest humble indigo ivory jolly kindly lavish lemon limber linen little lively "
    "lofty loyal lunar mellow misty modest mossy narrow nimble noble olive opal paper pearly "
    "pewter plain polar proud quiet rapid ruby rustic rusty sandy scarlet silent silver simple "
    "slate sleepy snowy solar steady stony sturdy sunny tawny tidal timber tranquil velvet violet "
    "walnut wandering wild windy wooden woolly"
)
THINGS = words(
    "anchor anvil apron arrow badger barge basket beacon bell bison bobbin brook bucket buoy "
    "button cabin canoe canvas castle cello chimney clover comet compass cottage crane crayon "
    "cricket dolphin drum easel falcon feather fern ferry fiddle finch forge fountain gable "
    "garden gazelle glacier goblet grotto guitar hammock harbor harp hedge heron igloo island "
    "jacket jetty kettle kite ladder lagoon lantern lark ledger lighthouse loom magnet mandolin "
    "marble meadow mitten monsoon moor napkin oar orchard otter paddle parcel pebble pelican "
    "pier pillow plover puffin quarry quilt raft raven reef ribbon rooster saddle sail satchel "
    "scarf shed sleigh sparrow spindle stable stork sundial teapot thicket thimble tower tractor "
    "trellis trumpet tunnel turtle umbrella valley viola wagon walrus weasel wharf willow"
)
LABELS = words(
    "alder aspen beech birch cedar cherry cypress elm fig fir hawthorn hemlock hickory holly "
    "juniper larch laurel linden maple mulberry oak palm pear pine plum poplar quince rowan "
    "spruce sycamore teak yew"
)


def codename(rng: np.random.Generator, joint: str = "-") -> str:
    """Return two plain words joined, such as ``quiet-heron``."""
    return f"{rng.choice(TRAITS)}{joint}{rng.choice(THINGS)}"


def labels(rng: np.random.Generator, n: int) -> tuple[str, ...]:
    """Return `n` different tree names, none of which begins another."""
    return tuple(str(word) for word in rng.choice(LABELS, size=n, replace=False))
