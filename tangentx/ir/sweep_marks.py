"""Comments that mark the sweeps of a derived function, and the note that it will be split.

Of a callee each sweep is a function: `PAIR` notes which two belong together (with copies of them for other arguments),
and `STATE` the parameter by which the second gets what the first has saved.
"""

FORWARD = "---- forward sweep ----"
REVERSE = "---- reverse sweep ----"
CUT = "cut"
PAIR = "pair"
STATE = "state"
