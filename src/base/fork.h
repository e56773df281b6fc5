// Locks across fork. The child has only the thread that forked: a mutex that another thread held
// would stay locked there.
#ifndef KEEL_BASE_FORK_H_
#define KEEL_BASE_FORK_H_

#include <pthread.h>

// For a static mutex of the file: the forking thread holds it, and both sides release it. Code that
// holds a guarded mutex must not take another one.
#define KEEL_FORK_GUARD(mutex)                                                                     \
    static void keel_before_fork(void) {                                                           \
        pthread_mutex_lock(&(mutex));                                                              \
    }                                                                                              \
    static void keel_after_fork(void) {                                                            \
        pthread_mutex_unlock(&(mutex));                                                            \
    }                                                                                              \
    __attribute__((constructor)) static void keel_guard_forks(void) {                              \
        pthread_atfork(keel_before_fork, keel_after_fork, keel_after_fork);                        \
    }                                                                                              \
    _Static_assert(sizeof(mutex) == sizeof(pthread_mutex_t), "a mutex")

#endif // KEEL_BASE_FORK_H_
