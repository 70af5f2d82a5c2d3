"""Shorter programs of the same meaning: one small pass a file, and the facts that they go by."""
