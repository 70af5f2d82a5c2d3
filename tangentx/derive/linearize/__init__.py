"""A tangent program in two: what does not move with the tangent, and what does."""
