"""What all tests share: golden texts, and how hypothesis draws."""

from __future__ import annotations

import difflib
import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tangentx.common.options import CHECKED, OFF
from tangentx.common.scoped_state import Lasting
from tangentx.templates.libraries import import_all

import_all()  # so that tests over all rules meet the same ones, whatever was imported before
GOLDEN = Path(__file__).parent / "golden"
collect_ignore = ["killers", "oracle/failed"]  # programs that tests read
Golden = Callable[[str, str], None]
STRIDE = 7
"""Of a test with a share of `n` one case in ``n * STRIDE`` is run: what keeps the whole suite within its
time. It is odd, so that cases that go by twos are not all of one kind."""

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one program stand together, so that one process runs them and compiles it once; long ones come first."""
    if not config.getoption("--thorough"):
        cases: Counter[str] = Counter()
        left_out = {item for item in items if is_left_out(item, cases)}
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    first: dict[str, int] = {}
    places = {item: first.setdefault(_program(item), k) for k, item in enumerate(items)}
    # Of long ones none waits at the end, where the other process would have nothing left to do.
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, places[item]))


def _program(item: pytest.Item) -> str:
    """The name of the program that a test is run for; its own where there is none."""
    drawn = getattr(item, "callspec", None)
    name = getattr(drawn.params.get("program"), "name", None) if drawn is not None else None
    return name if isinstance(name, str) else item.nodeid


def is_left_out(item: pytest.Item, cases: Counter[str]) -> bool:
    """Whether a test waits for ``--thorough``: by its mark, or as a case of a test of which one in so many runs."""
    if item.get_closest_marker("thorough") is not None:
        return True
    share = item.get_closest_marker("share")
    name = item.nodeid.partition("[")[0]
    cases[name] += 1
    return share is not None and (cases[name] - 1) % (share.args[0] * STRIDE) > 0


def pytest_collection_finish() -> None:
    """The tests themselves are not searched for cycles again and again, nor what each compilation makes: a tenth of the
    time that programs drawn at random take."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="what takes longer than all the other tests together, too")
    parser.addoption("--update-goldens", action="store_true", help="write the golden texts instead of comparing")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """No checked mode, even if the environment asks for it: it runs the program a second time, and keeps no text."""
    with Lasting(OFF, lambda off: off - {CHECKED}):
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """``golden(name, text)`` compares `text` with ``tests/golden/<name>.txt``, or writes it on update."""
    update = bool(request.config.getoption("--update-goldens"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        text = text.rstrip("\n") + "\n"
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"no golden text {path.name}: run pytest --update-goldens, and read what it wrote", False)
        wanted = path.read_text(encoding="utf-8")
        if text != wanted:
            lines = difflib.unified_diff(wanted.splitlines(), text.splitlines(), path.name, "this run", lineterm="")
            pytest.fail("\n".join(lines), pytrace=False)

    return compare
