"""Each fault of what is kept is seen by what is to show it, which finds nothing where there is none."""

from __future__ import annotations

import pytest

from tangentx.dispatch import call_stubs, disk_cache
from tests.faults_of_lasting import FAULTS, Kept
from tests.mutants import Mutant


def right(kept: Kept) -> bool:
    """Whether what shows the fault finds nothing; an exception is a find."""
    call_stubs._maker.cache_clear()
    try:
        return kept[4]()
    except Exception:
        return False


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning", "ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("unchecked")
@pytest.mark.share(3)
@pytest.mark.parametrize("kept", FAULTS, ids=lambda kept: kept[0])
def test_a_fault_is_seen(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "_own_rules", [])  # other tests may have declared some
    name, pit, target, edits, _ = kept
    assert right(kept)
    with Mutant(name, pit, target, edits).planted():
        assert not right(kept)
    call_stubs._maker.cache_clear()
    assert right(kept)
