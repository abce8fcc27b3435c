/* guard.h - is somebody inside? One word, taken and given back.
 *
 * Rules
 *  - tg_guard_take says whether it was free. It never waits.
 *  - With a global interpreter lock a plain word is enough: nothing comes between its two steps.
 */
#ifndef TG_GUARD_H
#define TG_GUARD_H

#include <stdbool.h>

#ifndef Py_GIL_DISABLED

typedef struct tg_guard {
    bool is_taken;
} tg_guard;

static inline bool
tg_guard_take(tg_guard *self)
{
    const bool was_free = !self->is_taken;

    self->is_taken = true;
    return was_free;
}

static inline void
tg_guard_give(tg_guard *self)
{
    self->is_taken = false;
}

#elif defined(_MSC_VER) && !defined(__clang__)

/* MSVC has C11's atomics only behind a flag of its own; its intrinsics are full barriers. */
#include <intrin.h>

typedef struct tg_guard {
    volatile char is_taken;
} tg_guard;

static inline bool
tg_guard_take(tg_guard *self)
{
    return _InterlockedExchange8(&self->is_taken, 1) == 0;
}

static inline void
tg_guard_give(tg_guard *self)
{
    (void)_InterlockedExchange8(&self->is_taken, 0);
}

#else

#include <stdatomic.h>

typedef struct tg_guard {
    atomic_bool is_taken;
} tg_guard;

static inline bool
tg_guard_take(tg_guard *self)
{
    return !atomic_exchange_explicit(&self->is_taken, true, memory_order_acquire);
}

static inline void
tg_guard_give(tg_guard *self)
{
    atomic_store_explicit(&self->is_taken, false, memory_order_release);
}

#endif

#endif
