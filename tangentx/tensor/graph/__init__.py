"""The recorded graph, the reverse sweep over it, and what is asked of both."""
