"""Models of Python's and NumPy's functions, in the language of the compiler."""
