"""The command line: ``python -m tangentx ops [NAME]``."""

from __future__ import annotations

import argparse
import sys

from tangentx.templates.listing import ops


def main(arguments: list[str]) -> int:
    """Runs one command. Returns what the process exits with."""
    parser = argparse.ArgumentParser(prog="python -m tangentx")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    table = commands.add_parser("ops", help="print the operations: differentiable, constant, refused with the reason")
    table.add_argument("name", nargs="?", default="", help="only those whose name holds this")
    found = str(ops(parser.parse_args(arguments).name))
    if not found:
        print("no operation of that name; what is in no list is refused where it is called", file=sys.stderr)
        return 1
    print(found, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
