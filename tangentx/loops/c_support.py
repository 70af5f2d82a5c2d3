"""What every program that is printed as C begins with: blocks of memory that are counted, lists, and arithmetic."""

from __future__ import annotations

BEGINNING = r"""
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Memory of arrays, counted by how many arrays and records refer to it. */
typedef struct { int64_t users; void *memory; size_t bytes; } block;

/* How much memory this call holds, and the most that it has held. */
static __thread size_t held_bytes, most_bytes;
static inline void hold(size_t bytes) { held_bytes += bytes; if (held_bytes > most_bytes) most_bytes = held_bytes; }

static block *new_block(int64_t count, size_t size, bool zeros)
{
    block *made = malloc(sizeof *made);
    if (!made) return NULL;
    size_t places = count > 0 ? (size_t)count : 1;
    made->users = 1;
    made->bytes = places * size;
    made->memory = zeros ? calloc(places, size) : malloc(places * size);
    if (!made->memory) { free(made); return NULL; }
    hold(made->bytes);
    return made;
}

/* A product of extents, so large that there is no memory for it where it does not fit. */
static inline int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > INT64_MAX / 16 ? INT64_MAX / 16 : product;
}

/* Whether elements lie row after row, without gaps. */
static __attribute__((unused)) bool lies_dense(int rank, const int64_t *n, const int64_t *s)
{
    int64_t count = 1;
    bool dense = true;
    for (int k = rank - 1; k >= 0; k--) { dense = dense && (s[k] == count || n[k] == 1); count *= n[k]; }
    return dense || count == 0;
}

static inline void retain(block *b) { if (b) b->users++; }

static inline void release(block *b)
{
    if (b && --b->users == 0) { held_bytes -= b->bytes; free(b->memory); free(b); }
}

/* Room for one more item of a list; NULL where there is no memory. */
static __attribute__((noinline, cold)) void *grown(void *items, int64_t *capacity, size_t size)
{
    int64_t wanted = *capacity ? *capacity * 2 : 64;
    void *found = realloc(items, (size_t)wanted * size);
    if (found) { hold((size_t)(wanted - *capacity) * size); *capacity = wanted; }
    return found;
}

#define BAIL(code) do { bail = (code); goto out; } while (0)
#define PUSH(list, item) do { \
        if (list->count == list->capacity) { \
            int64_t capacity = list->capacity; \
            void *found = grown(list->items, &capacity, sizeof *list->items); \
            if (!found) BAIL(8); \
            list->items = found; \
            list->capacity = capacity; \
        } \
        list->items[list->count++] = (item); \
    } while (0)

/* Python's lock is released while a program runs, and taken now and then to ask whether a signal wants it to stop. */
#define SMALL_PRODUCT (1 << 15) /* multiplications; more of them are quicker by NumPy */
#define TICKS (1 << 22)
#define LONGEST (1 << 30)
typedef struct {
    void *(*release_lock)(void);
    void (*take_lock)(void *state);
    int (*check_signals)(void);
    int64_t (*outside)(int64_t place, const int64_t *given, int64_t *found);
    void *state;
} interpreter;

/* What Python runs meanwhile has floating-point events of its own. */
static __attribute__((noinline, cold)) int stop_asked(interpreter *python)
{
    fexcept_t events;
    fegetexceptflag(&events, FE_ALL_EXCEPT);
    python->take_lock(python->state);
    int asked = python->check_signals();
    python->state = python->release_lock();
    fesetexceptflag(&events, FE_ALL_EXCEPT);
    return asked;
}

static __attribute__((noinline, unused)) int64_t outside(
    interpreter *python, int64_t place, const int64_t *given, int64_t *found)
{
    fexcept_t events;
    fegetexceptflag(&events, FE_ALL_EXCEPT);
    int64_t bail = python->outside(place, given, found);
    fesetexceptflag(&events, FE_ALL_EXCEPT);
    return bail;
}

static inline int64_t word_of(double number) { int64_t word; memcpy(&word, &number, 8); return word; }
static inline double number_of(int64_t word) { double number; memcpy(&number, &word, 8); return number; }

static inline int64_t floordiv_i8(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static inline int64_t mod_i8(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline double mod_f8(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0.0) return copysign(0.0, b);
    return (r < 0.0) != (b < 0.0) ? r + b : r;
}
static inline double floordiv_f8(double a, double b)
{
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0.0 && (b < 0.0) != (r < 0.0)) q -= 1.0;
    if (q == 0.0) return copysign(0.0, a / b);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1.0 : whole;
}
static inline bool add_fits(int64_t a, int64_t b) { int64_t r; return !__builtin_add_overflow(a, b, &r); }
static inline bool sub_fits(int64_t a, int64_t b) { int64_t r; return !__builtin_sub_overflow(a, b, &r); }
static inline bool mul_fits(int64_t a, int64_t b) { int64_t r; return !__builtin_mul_overflow(a, b, &r); }
"""

OF_REALS = r"""
static inline REAL guarded_CODE(REAL p, REAL t) { REAL both = p * t; return p == 0 || t == 0 ? 0 : both; }
static inline REAL maximum_CODE(REAL a, REAL b) { return a >= b || a != a ? a : b; }
static inline REAL minimum_CODE(REAL a, REAL b) { return a <= b || a != a ? a : b; }
static inline REAL sign_CODE(REAL a) { return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a; }
static inline REAL ratio_or_zero_CODE(REAL a, REAL b) { return b != 0 ? a / b : 0; }
static inline REAL over_root_CODE(REAL a, REAL b) { return a == 0 && b != b ? 0 : a / b; }
static inline REAL log_or_zero_CODE(REAL a) { return a == 0 ? 0 : logSUFFIX(a); }
static inline REAL power_slope_CODE(REAL a, REAL b) { return b == 0 ? 0 : b * powSUFFIX(a, b - 1); }

/* A sum in the order in which NumPy adds. */
static REAL pairwise_CODE(const REAL *a, int64_t count, int64_t stride)
{
    if (count < 8) {
        REAL sum = -0.0;
        for (int64_t i = 0; i < count; i++) sum += a[i * stride];
        return sum;
    }
    if (count <= 128) {
        REAL r[8];
        int64_t i;
        for (int k = 0; k < 8; k++) r[k] = a[k * stride];
        for (i = 8; i < count - count % 8; i += 8)
            for (int k = 0; k < 8; k++) r[k] += a[(i + k) * stride];
        REAL sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < count; i++) sum += a[i * stride];
        return sum;
    }
    int64_t half = count / 2;
    half -= half % 8;
    return pairwise_CODE(a, half, stride) + pairwise_CODE(a + half * stride, count - half, stride);
}

static REAL sum_CODE(const REAL *a, int rank, const int64_t *n, const int64_t *s)
{
    int64_t count = 1;
    bool dense = true;
    for (int k = rank - 1; k >= 0; k--) { dense = dense && (s[k] == count || n[k] == 1); count *= n[k]; }
    if (count == 0) return 0;
    if (dense || rank == 0) return (REAL)0 + pairwise_CODE(a, count, 1);
    if (rank == 1) return (REAL)0 + pairwise_CODE(a, n[0], s[0]);
    REAL sum = 0;
    for (int64_t i = 0; i < n[0]; i++) sum += sum_CODE(a + i * s[0], rank - 1, n + 1, s + 1);
    return sum;
}

static REAL extreme_CODE(const REAL *a, int rank, const int64_t *n, const int64_t *s, bool largest)
{
    if (rank == 0) return *a;
    REAL best = extreme_CODE(a, rank - 1, n + 1, s + 1, largest);
    for (int64_t i = 1; i < n[0]; i++) {
        REAL other = extreme_CODE(a + i * s[0], rank - 1, n + 1, s + 1, largest);
        best = largest ? maximum_CODE(best, other) : minimum_CODE(best, other);
    }
    return best;
}

/* Adds a product of matrices, or of vectors, to what lies row after row. */
static __attribute__((unused)) void product_CODE(
    REAL *c, const REAL *a, const REAL *b, int64_t rows, int64_t inner, int64_t columns,
    int64_t a0, int64_t a1, int64_t b0, int64_t b1)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < inner; k++) {
            REAL factor = a[i * a0 + k * a1];
            for (int64_t j = 0; j < columns; j++) c[i * columns + j] += factor * b[k * b0 + j * b1];
        }
}
#define max_CODE(a, rank, n, s) extreme_CODE(a, rank, n, s, true)
#define min_CODE(a, rank, n, s) extreme_CODE(a, rank, n, s, false)
"""


def beginning(codes: frozenset[str]) -> str:
    """The first part of a text that uses reals of these representations."""
    parts = [BEGINNING]
    for code, real, suffix in (("f8", "double", ""), ("f4", "float", "f")):
        if code in codes:
            parts.append(OF_REALS.replace("REAL", real).replace("CODE", code).replace("SUFFIX", suffix))
    return "".join(parts)
