"""``python -m benchmarks``: the table. ``--seconds`` is for each row, ``--scale`` makes the large programs smaller."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.pages import write_page
from benchmarks.table import gradient_rows, jit_rows, mode_rows, overhead_rows, peer_rows, tensor_rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each row")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the large programs")
    parser.add_argument("--repeats", type=int, default=15, help="compilations, and processes that import")
    parser.add_argument("--jit", action="store_true", help="gradients compiled to C, and nothing else")
    parser.add_argument("--peers", action="store_true", help="with --jit: beside gradients by hand, and by others")
    parser.add_argument("--page", metavar="FOLDER", help="with --jit --peers: writes a page with a picture there")
    given = parser.parse_args(arguments)
    if given.jit and given.peers:
        print("The gradient compiled to C beside the one written by hand: medians, called in turn.")
        rows = []
        for row in peer_rows(given.seconds, given.scale):
            print(row, flush=True)
            rows.append(row)
        if given.page:
            write_page(given.page, rows)
        return
    if given.jit:
        print("The gradient compiled to C beside the generated Python: medians, called in turn.")
        for row in jit_rows(given.seconds, given.scale):
            print(row, flush=True)
        return
    print("The generated gradient beside the one written by hand: medians, called in turn.")
    for row in gradient_rows(given.seconds, given.scale):
        print(row, flush=True)
    for row in tensor_rows(given.seconds):
        print(row, flush=True)
    for row in mode_rows(given.seconds, given.scale):
        print(row, flush=True)
    for row in overhead_rows(given.seconds, given.repeats):
        print(row, flush=True)


if __name__ == "__main__":
    main()
