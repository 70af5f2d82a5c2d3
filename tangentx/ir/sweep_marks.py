"""The marks of the sweeps in a derived function: comments, and a note that it is to be cut in two at the second.

Of a callee each sweep is a function: `PAIR` notes which two belong together (with copies of them for other arguments),
and `STATE` the parameter by which the second gets what the first has saved.
"""

FORWARD = "---- forward sweep ----"
REVERSE = "---- reverse sweep ----"
CUT = "cut"
PAIR = "pair"
STATE = "state"
