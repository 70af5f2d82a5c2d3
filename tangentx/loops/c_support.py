"""The C prelude of each program: Python's arithmetic, memory blocks, and growing lists."""

from __future__ import annotations

from collections.abc import Collection

BEGINNING = r"""
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Compiled once, however often it is called. */
#define APART __attribute__((noinline, unused))

/* What is needed of Python, whose headers need not be there: it is handed over when this is loaded. */
typedef struct _object PyObject;
typedef struct {
    void *buf; PyObject *obj; intptr_t len, itemsize; int readonly, ndim; char *format;
    intptr_t *shape, *strides, *suboffsets; void *internal;
} buffer;
typedef struct {
    void *(*release_lock)(void); /* PyEval_SaveThread */
    void (*take_lock)(void *state); /* PyEval_RestoreThread */
    int (*demand_lock)(void); /* PyGILState_Ensure */
    void (*leave_lock)(int state); /* PyGILState_Release */
    int (*check_signals)(void);
    PyObject *(*raised)(void); /* PyErr_Occurred */
    void (*forget)(void); /* PyErr_Clear */
    void (*keep)(PyObject *); /* Py_IncRef */
    void (*drop)(PyObject *); /* Py_DecRef */
    double (*as_real)(PyObject *);
    long long (*as_whole)(PyObject *);
    int (*is_true)(PyObject *);
    PyObject *(*real)(double);
    PyObject *(*whole)(long long);
    PyObject *(*truth)(long);
    PyObject *(*tuple)(intptr_t);
    int (*set_item)(PyObject *, intptr_t, PyObject *);
    PyObject *(*call)(PyObject *, PyObject *);
    int (*view)(PyObject *, buffer *, int);
    void (*end_view)(buffer *);
    PyObject *(*function)(void *, PyObject *, PyObject *);
    PyObject *empty, *zeros, *f8, *f4, *i8, *b1; /* of NumPy */
    int64_t threads;
    struct kept_memory *kept; /* of all programs of the process */
} python_functions;
static python_functions py;

/* Memory of arrays, counted by how many arrays and records refer to it; of an array of NumPy's, where there is one. */
typedef struct { int64_t users; void *memory; size_t bytes; PyObject *array; } block;

/* How much memory this call holds, and the most that it has held. */
static __thread size_t held_bytes, most_bytes;
static inline void hold(size_t bytes) { held_bytes += bytes; if (held_bytes > most_bytes) most_bytes = held_bytes; }

/* Large pages, as NumPy asks for them: memory that is new costs less by far. */
#define LARGE (1 << 22)
static void in_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t start = (uintptr_t)memory & ~(uintptr_t)4095; /* with the page that it shares: all of a mapping */
    if (memory && bytes >= LARGE) madvise((void *)start, bytes + ((uintptr_t)memory - start), MADV_HUGEPAGE);
#endif
}

/* Memory that begins where a large page begins, if it is large. */
static void *plain_memory(size_t bytes)
{
    size_t page = (size_t)1 << 21;
    if (bytes < LARGE || bytes > SIZE_MAX / 2) return malloc(bytes);
    return aligned_alloc(page, (bytes + page - 1) / page * page);
}

/* A sanitiser sees what is used after it was given back, and what lies beyond its end. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define CLOSE(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define OPEN(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define CLOSE(memory, bytes) (void)0
#define OPEN(memory, bytes) (void)0
#endif

/* Memory that is free is kept for the next call, as much as 64 MiB: the first touch of a new page costs more than most
   of what is computed in it. It is kept by size, four sizes between a power of two and the next: by this thread while
   a call lasts, afterwards by all programs. Nobody waits for another thread here, or for one that a fork has left
   behind: what cannot be kept, or taken, is freed, or new. What is small is a piece of a chunk, one after the other,
   and free when the call ends. */
#define LEAST_KEPT 64
#define LAST_PIECE 20 /* the place of 1024 bytes */
#define CHUNK ((size_t)1 << 16)
#define MOST_KEPT ((size_t)1 << 26)
#define SIZES 88
struct kept_memory { bool busy; size_t bytes; void *first[SIZES], *last[SIZES]; size_t count[SIZES]; };
static __thread struct kept_memory mine;
static __thread struct { void *first; size_t used; int calls; } chunks;

/* The size in which so many bytes are kept; where they are none of these, the bytes. */
static size_t size_kept(size_t bytes, int *place)
{
    *place = -1;
    if (bytes > MOST_KEPT) return bytes;
    if (bytes < LEAST_KEPT) bytes = LEAST_KEPT;
    int power = 63 - __builtin_clzll((unsigned long long)bytes - 1);
    size_t step = (size_t)1 << (power - 2), steps = (bytes + step - 1) / step;
    *place = (power - 5) * 4 + (int)steps - 4;
    return steps * step;
}

static size_t size_at(int place) { return (size_t)(place % 4 + 4) << (place / 4 + 3); }

static bool lock_kept(void) { return !__atomic_test_and_set(&py.kept->busy, __ATOMIC_ACQUIRE); }
static void unlock_kept(void) { __atomic_clear(&py.kept->busy, __ATOMIC_RELEASE); }

/* Free memory begins with the place of the next. */
static void *next_free(void *memory) { void *next; memcpy(&next, memory, sizeof next); return next; }

/* Takes over all that is kept of a size. */
static __attribute__((noinline)) void take_kept(int place, size_t size)
{
    if (!py.kept->count[place] || !lock_kept()) return;
    mine.first[place] = py.kept->first[place];
    mine.last[place] = py.kept->last[place];
    mine.count[place] = py.kept->count[place];
    mine.bytes += mine.count[place] * size;
    py.kept->bytes -= mine.count[place] * size;
    py.kept->first[place] = NULL;
    py.kept->count[place] = 0;
    unlock_kept();
}

static void *take_memory(size_t bytes, bool zeros);
static void give_back(void *memory, size_t bytes);

/* A piece of a chunk. */
static void *new_piece(size_t size)
{
    if (!chunks.first || chunks.used + size > CHUNK) {
        void *made = take_memory(CHUNK, false);
        if (!made) return NULL;
        memcpy(made, &chunks.first, sizeof made);
        chunks.first = made;
        chunks.used = LEAST_KEPT;
        CLOSE((char *)made + LEAST_KEPT, CHUNK - LEAST_KEPT);
    }
    chunks.used += size;
    return (char *)chunks.first + chunks.used - size;
}

/* A call ends. Gives all that this thread keeps to all programs, or frees it. */
static void leave_kept(void)
{
    if (--chunks.calls) return;
    for (int place = 0; place <= LAST_PIECE; place++) mine.first[place] = NULL;
    for (void *next; chunks.first; chunks.first = next) {
        next = next_free(chunks.first);
        give_back(chunks.first, CHUNK);
    }
    bool locked = false;
    for (int place = 0; place < SIZES; place++) {
        if (!mine.first[place]) continue;
        size_t bytes = mine.count[place] * size_at(place);
        locked = locked || lock_kept();
        if (locked && py.kept->bytes + bytes <= MOST_KEPT) {
            memcpy(mine.last[place], &py.kept->first[place], sizeof(void *));
            if (!py.kept->first[place]) py.kept->last[place] = mine.last[place];
            py.kept->first[place] = mine.first[place];
            py.kept->count[place] += mine.count[place];
            py.kept->bytes += bytes;
        } else {
            for (void *memory = mine.first[place], *next; memory; memory = next) {
                next = next_free(memory);
                free(memory);
            }
        }
        mine.first[place] = NULL;
        mine.count[place] = 0;
    }
    mine.bytes = 0;
    if (locked) unlock_kept();
}

static void *take_memory(size_t bytes, bool zeros)
{
    int place;
    size_t size = size_kept(bytes, &place);
    void *found = NULL;
    if (place > LAST_PIECE && !mine.first[place]) take_kept(place, size);
    if (place >= 0 && (found = mine.first[place])) {
        mine.first[place] = next_free(found);
        mine.count[place] -= place > LAST_PIECE;
        mine.bytes -= place > LAST_PIECE ? size : 0;
    } else if (place >= 0 && place <= LAST_PIECE && !(found = new_piece(size))) return NULL;
    if (found) {
        OPEN(found, bytes);
        return zeros ? memset(found, 0, bytes) : found;
    }
    found = zeros ? calloc(1, size) : plain_memory(size);
    in_large_pages(found, size);
    if (found) CLOSE((char *)found + bytes, size - bytes);
    return found;
}

static void give_back(void *memory, size_t bytes)
{
    int place;
    size_t size = size_kept(bytes, &place);
    bool piece = place >= 0 && place <= LAST_PIECE;
    if (!memory || (!piece && (place < 0 || mine.bytes + size > MOST_KEPT))) { free(memory); return; }
    if (!mine.first[place]) mine.last[place] = memory;
    memcpy(memory, &mine.first[place], sizeof memory);
    CLOSE((char *)memory + sizeof memory, size - sizeof memory);
    mine.first[place] = memory;
    mine.count[place] += !piece;
    mine.bytes += piece ? 0 : size;
}

/* What is small lies behind its block, in one piece of memory. */
#define SMALL 4096

static __attribute__((noinline)) block *new_block(int64_t count, size_t size, bool zeros)
{
    size_t bytes = (count > 0 ? (size_t)count : 1) * size;
    block *made = bytes <= SMALL ? take_memory(sizeof *made + bytes, false) : malloc(sizeof *made);
    if (!made) return NULL;
    void *memory = bytes <= SMALL ? made + 1 : take_memory(bytes, zeros);
    if (!memory) { free(made); return NULL; }
    if (zeros && bytes <= SMALL) memset(memory, 0, bytes);
    *made = (block){ 1, memory, bytes, NULL };
    hold(bytes);
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

/* Nobody refers to it any more. */
static __attribute__((noinline)) void end_block(block *b)
{
    held_bytes -= b->bytes;
    if (b->array) {
        int state = py.demand_lock();
        py.drop(b->array);
        py.leave_lock(state);
    } else if (b->memory == b + 1) {
        give_back(b, sizeof *b + b->bytes);
        return;
    } else give_back(b->memory, b->bytes);
    free(b);
}

static inline void release(block *b) { if (b && !--b->users) end_block(b); }

/* Memory for a new array in place of another: the same, where only that one has it and it is as large. */
static __attribute__((noinline)) block *other_block(block *had, int64_t count, size_t size, bool zeros)
{
    size_t bytes = (count > 0 ? (size_t)count : 1) * size;
    if (!had || had->users != 1 || had->array || had->bytes != bytes) {
        release(had);
        return new_block(count, size, zeros);
    }
    if (zeros) memset(had->memory, 0, bytes);
    return had;
}

/* Room for one more item of a list; NULL where there is no memory. */
static __attribute__((noinline, cold)) void *grown(void *items, int64_t *capacity, size_t size)
{
    int64_t wanted = *capacity ? *capacity * 2 : 8;
    size_t had = (size_t)*capacity * size;
    void *found = take_memory((size_t)wanted * size, false);
    if (!found) return NULL;
    if (items) memcpy(found, items, had);
    give_back(items, had);
    hold((size_t)(wanted - *capacity) * size);
    *capacity = wanted;
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
typedef int64_t (*called_back)(int64_t place, const int64_t *given, int64_t *found);
typedef struct { called_back outside; void *state; } interpreter;

/* What Python runs meanwhile has floating-point events of its own. */
static __attribute__((noinline, cold)) int stop_asked(interpreter *python)
{
    fexcept_t events;
    fegetexceptflag(&events, FE_ALL_EXCEPT);
    py.take_lock(python->state);
    int asked = py.check_signals();
    python->state = py.release_lock();
    fesetexceptflag(&events, FE_ALL_EXCEPT);
    return asked;
}

/* A new array of NumPy's. */
static PyObject *new_array(PyObject *make, PyObject *type, int rank, const int64_t *n)
{
    PyObject *shape = py.tuple(rank), *given = py.tuple(2), *made = NULL;
    for (int k = 0; shape && k < rank; k++) {
        PyObject *extent = py.whole(n[k]);
        if (!extent || py.set_item(shape, k, extent)) { py.drop(shape); shape = NULL; }
    }
    if (shape && given) {
        py.keep(type);
        py.set_item(given, 0, shape);
        py.set_item(given, 1, type);
        made = py.call(make, given);
        shape = NULL;
    }
    if (shape) py.drop(shape);
    if (given) py.drop(given);
    return made;
}

/* Memory of an array that is handed over as it is, where it is not small. */
static __attribute__((unused)) block *lent_block(
    interpreter *python, bool zeros, PyObject *type, size_t size, int rank, const int64_t *n)
{
    int64_t count = 1;
    for (int k = 0; k < rank; k++) count = times(count, n[k]);
    if (count < 4096) return new_block(count, size, zeros);
    block *made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = (block){ 1, NULL, (size_t)count * size, NULL };
    fexcept_t events;
    buffer view;
    fegetexceptflag(&events, FE_ALL_EXCEPT);
    py.take_lock(python->state);
    made->array = new_array(zeros ? py.zeros : py.empty, type, rank, n);
    if (made->array && !py.view(made->array, &view, 0)) {
        made->memory = view.buf;
        py.end_view(&view);
    } else {
        py.forget();
        if (made->array) py.drop(made->array);
    }
    in_large_pages(made->memory, made->bytes);
    python->state = py.release_lock();
    fesetexceptflag(&events, FE_ALL_EXCEPT);
    if (!made->memory) { free(made); return NULL; }
    hold(made->bytes);
    return made;
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

OF_BITS = r"""
/* What is computed, used or not, goes into a word that seems to be used at the end. */
static inline __attribute__((unused)) WORD bits_CODE(REAL a) { WORD word; memcpy(&word, &a, sizeof word); return word; }

"""

OF_ELEMENTS = r"""static inline REAL guarded_CODE(REAL p, REAL t)
{
    REAL both = p * t;
    return both != both && (p == 0 || t == 0) ? 0 : both;
}
static inline REAL maximum_CODE(REAL a, REAL b) { return a >= b || a != a ? a : b; }
static inline REAL minimum_CODE(REAL a, REAL b) { return a <= b || a != a ? a : b; }
static inline REAL sign_CODE(REAL a) { return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a; }
static inline REAL ratio_or_zero_CODE(REAL a, REAL b) { return b != 0 ? a / b : 0; }
static inline REAL over_root_CODE(REAL a, REAL b) { return a == 0 && b != b ? 0 : a / b; }
static inline REAL log_or_zero_CODE(REAL a) { return a == 0 ? 0 : logSUFFIX(a); }
static inline REAL power_slope_CODE(REAL a, REAL b) { return b == 0 ? 0 : b * powSUFFIX(a, b - 1); }
"""
"""What goes element by element, on every device."""

OF_SUMS = r"""
/* A sum in the order in which NumPy adds. */
static APART REAL pairwise_CODE(const REAL *a, int64_t count, int64_t stride)
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

static inline __attribute__((unused)) REAL row_sum_CODE(const REAL *a, int64_t count, int64_t stride)
{
    if (count >= 8) return (REAL)0 + pairwise_CODE(a, count, stride);
    REAL sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i * stride];
    return sum;
}

static APART REAL sum_CODE(const REAL *a, int rank, const int64_t *n, const int64_t *s)
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

/* A product of two vectors, in sixteen parts where their elements are neighbours. */
static __attribute__((unused)) REAL dot_CODE(const REAL *a, const REAL *b, int64_t count, int64_t s, int64_t t)
{
    REAL sum = 0, r[16] = { 0 };
    int64_t i = 0;
    if (s == 1 && t == 1 && count >= 16) {
        for (; i + 16 <= count; i += 16)
            for (int k = 0; k < 16; k++) r[k] += a[i + k] * b[i + k];
        for (int k = 0; k < 8; k++) r[k] += r[k + 8];
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < count; i++) sum += a[i * s] * b[i * t];
    return sum;
}

/* Adds a product of matrices, or of vectors, to what lies row after row; the innermost loop goes over neighbours. */
static APART void product_CODE(
    REAL *restrict c, const REAL *a, const REAL *b, int64_t rows, int64_t inner, int64_t columns,
    int64_t a0, int64_t a1, int64_t b0, int64_t b1)
{
    if (columns == 1 && a0 == 1 && a1 != 1) {
        for (int64_t k = 0; k < inner; k++) {
            REAL factor = b[k * b0];
            for (int64_t i = 0; i < rows; i++) c[i] += factor * a[i + k * a1];
        }
        return;
    }
    if (columns == 1 || (b0 == 1 && b1 != 1)) {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                c[i * columns + j] += dot_CODE(a + i * a0, b + j * b1, inner, a1, b0);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < inner; k++) {
            REAL factor = a[i * a0 + k * a1];
            for (int64_t j = 0; j < columns; j++) c[i * columns + j] += factor * b[k * b0 + j * b1];
        }
}
#define max_CODE(a, rank, n, s) extreme_CODE(a, rank, n, s, true)
#define min_CODE(a, rank, n, s) extreme_CODE(a, rank, n, s, false)
"""


OF_REALS = "".join((OF_BITS, OF_ELEMENTS, OF_SUMS))
_REALS = {"f8": ("double", "uint64_t", ""), "f4": ("float", "uint32_t", "f")}


def beginning(codes: frozenset[str], more: str = "", of_reals: str = "") -> str:
    """The first part of a text that uses reals of these representations, with `more`, and what is `of_reals`."""
    return "".join((BEGINNING, more, *(_for_reals(OF_REALS + of_reals, code) for code in _REALS if code in codes)))


def element_names() -> list[str]:
    """The names of the functions that go element by element, for every representation."""
    return [_name_in(text) for code in _REALS for text in _each(code)]


def of_elements(names: Collection[str]) -> list[str]:
    """Those of the functions that go element by element that have these names, ``guarded_f8`` and the like."""
    return [text for code in _REALS for text in _each(code) if _name_in(text) in names]


def _each(code: str) -> list[str]:
    return [f"static inline {text.rstrip()}" for text in _for_reals(OF_ELEMENTS, code).split("static inline ")[1:]]


def _name_in(text: str) -> str:
    return text.partition("(")[0].rpartition(" ")[2]


def _for_reals(text: str, code: str) -> str:
    real, word, suffix = _REALS[code]
    for name, found in (("REAL", real), ("WORD", word), ("CODE", code), ("SUFFIX", suffix)):
        text = text.replace(name, found)
    return text
