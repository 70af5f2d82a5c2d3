"""Rules for batches: each function that a template calls, done for all members at once; loading this enters them."""

from tangentx.templates.batched import (
    axes,
    batch,
    elements,
    images,
    lists,
    places,
    products,
    shapes,
    signals,
)

__all__ = [
    "axes",
    "elements",
    "signals",
    "batch",
    "images",
    "shapes",
    "lists",
    "places",
    "products",
]
