"""How much of the corpus the loop language can say, and why not the rest: ``python -m tests.jit.share``."""

import re
import warnings
from collections import defaultdict

import tangentx as tx
from tests.programs import PROGRAMS


def share() -> tuple[list[str], dict[str, list[str]]]:
    """The programs whose gradient is compiled, and the others by the reason."""
    compiled: list[str] = []
    refused: dict[str, list[str]] = defaultdict(list)
    for program in PROGRAMS:
        derivative = tx.grad(program.fn, wrt=program.wrt, jit="python")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            derivative(*program.args())
        found = derivative._cache.last.notes["jit"]
        if found is not None and found.compiled is not None:
            compiled.append(program.name)
        else:
            reason = "it runs on Tensors" if found is None else re.sub(r" \([^()]*:\d+\)$", "", found.refusal)
            refused[reason].append(program.name)
    return compiled, refused


def main() -> None:
    """Prints the share, and reasons with the names of programs."""
    compiled, refused = share()
    print(f"{len(compiled)} of {len(PROGRAMS)} programs, {100 * len(compiled) / len(PROGRAMS):.0f} %")
    for reason, names in sorted(refused.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):4}  {reason}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}")


if __name__ == "__main__":
    main()
