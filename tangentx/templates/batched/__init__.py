"""Rules for batches: each function that a template calls, done for all members at once; loading this enters them."""

from tangentx.templates.batched import (
    axes,
    elements,
    filters,
    forms,
    images,
    jacobian_blocks,
    lists,
    places,
    products,
    shapes,
    transforms,
)

__all__ = [
    "axes",
    "elements",
    "filters",
    "forms",
    "images",
    "jacobian_blocks",
    "lists",
    "places",
    "products",
    "shapes",
    "transforms",
]
