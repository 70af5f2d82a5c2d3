"""The marks of the sweeps in a derived function: comments, and a note that it is to be cut in two at the second."""

FORWARD = "---- forward sweep ----"
REVERSE = "---- reverse sweep ----"
CUT = "cut"
