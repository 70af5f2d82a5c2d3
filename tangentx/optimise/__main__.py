"""``python -m tangentx.optimise`` prints the table of passes."""

from tangentx.optimise.listing import listing

print(listing(), end="")
