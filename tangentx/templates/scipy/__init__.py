"""Rules of SciPy's functions, attached to their public names; the library's own source is never read."""
