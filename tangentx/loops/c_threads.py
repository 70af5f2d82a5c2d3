"""Threads in C programs: independent iterations, and sums in a fixed order.

The bits do not depend on how many threads there are: a thread takes whole vectors of trips, and a sum is split where
it is split without threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tangentx.loops import loop_ir as loops
from tangentx.loops.simplify import atoms, expressions, targets

SUPPORT = r"""
#include <pthread.h>

/* Independent trips on several threads; a thread has the floating-point events of its part. */
#define SPREAD_FROM (1 << 15)
#define MOST_THREADS 64
typedef void part_of_loop(void *names, int64_t first, int64_t behind);
typedef struct { part_of_loop *part; void *names; int64_t first, behind; int events; pthread_t thread; } share_of_loop;

static void *run_share(void *given)
{
    share_of_loop *share = given;
    feclearexcept(FE_ALL_EXCEPT);
    share->part(share->names, share->first, share->behind);
    share->events = fetestexcept(FE_ALL_EXCEPT);
    return NULL;
}

static void spread(part_of_loop *part, void *names, int64_t count, int64_t elements, int64_t whole)
{
    int64_t threads = elements / SPREAD_FROM;
    if (threads > py.threads) threads = py.threads;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads < 2) { part(names, 0, count); return; }
    int64_t size = (count / threads + whole) / whole * whole;
    share_of_loop shares[MOST_THREADS];
    int64_t begun = 0, first = size;
    for (; first < count; first += size) {
        share_of_loop *share = &shares[begun];
        *share = (share_of_loop){ part, names, first, first + size < count ? first + size : count };
        if (pthread_create(&share->thread, NULL, run_share, share)) break;
        begun++;
    }
    part(names, 0, size < count ? size : count);
    if (first < count) part(names, first, count); /* no more threads can be had */
    int events = 0;
    for (int64_t k = 0; k < begun; k++) {
        pthread_join(shares[k].thread, NULL);
        events |= shares[k].events;
    }
    feraiseexcept(events);
}
"""

OF_REALS = r"""
#define LEAVES 16
typedef struct { const REAL *first[LEAVES]; int64_t count[LEAVES], leaves; REAL sums[LEAVES]; } wide_sum_CODE;

static void split_CODE(wide_sum_CODE *sum, const REAL *a, int64_t count, int64_t leaves)
{
    if (leaves == 1) {
        sum->first[sum->leaves] = a;
        sum->count[sum->leaves++] = count;
        return;
    }
    int64_t half = count / 2;
    half -= half % 8;
    split_CODE(sum, a, half, leaves / 2);
    split_CODE(sum, a + half, count - half, leaves / 2);
}

static void add_leaves_CODE(void *given, int64_t first, int64_t behind)
{
    wide_sum_CODE *sum = given;
    for (int64_t k = first; k < behind; k++) sum->sums[k] = pairwise_CODE(sum->first[k], sum->count[k], 1);
}

/* A sum of elements without gaps, in the order in which NumPy adds. */
static REAL spread_sum_CODE(const REAL *a, int rank, const int64_t *n, const int64_t *s)
{
    int64_t count = 1;
    for (int k = 0; k < rank; k++) count = times(count, n[k]);
    if (count < 4 * SPREAD_FROM || !lies_dense(rank, n, s)) return sum_CODE(a, rank, n, s);
    wide_sum_CODE sum = { { NULL }, { 0 }, 0, { 0 } };
    split_CODE(&sum, a, count, LEAVES);
    spread(add_leaves_CODE, &sum, LEAVES, count, 1);
    for (int step = 1; step < LEAVES; step *= 2)
        for (int k = 0; k < LEAVES; k += 2 * step) sum.sums[k] += sum.sums[k + step];
    return (REAL)0 + sum.sums[0];
}
"""


def is_spread(loop: loops.For) -> bool:
    """Whether a loop may run on several threads: independent trips, which give up nowhere."""
    inside = list(loops.statements(loop.body))
    simple = loops.Assign | loops.Write | loops.Keep | loops.Remark
    whole = loop.start == loops.Const(0, loop.start.type) and not loop.backward
    return (
        loop.independent
        and whole
        and all(isinstance(s, simple) or (isinstance(s, loops.For) and s.independent) for s in inside)
    )


def own_names(loop: loops.For) -> tuple[str, ...]:
    """The names that a trip gives values, the counter first."""
    bound = (name for s in loops.statements(loop.body) for name in targets(s))
    return tuple(dict.fromkeys((loop.name, *bound)))


def given_names(loop: loops.For, types: Mapping[str, loops.Type]) -> tuple[str, ...]:
    """The names that a trip reads, or whose elements it writes."""
    own = set(own_names(loop))
    return tuple(name for name in dict.fromkeys(_read(loop)) if name not in own and name in types)


def _read(loop: loops.For) -> Iterator[str]:
    for s in loops.statements(loop.body):
        if isinstance(s, loops.Write):
            yield s.array
        for value in expressions(s):
            yield from atoms(value)
