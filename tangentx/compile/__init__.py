"""The compiler: from a function and the kinds of its arguments to an entry that runs."""
