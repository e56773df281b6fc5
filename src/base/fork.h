// A fork and the locks of its parent. The child has one thread, the one that forked: a mutex that
// any other thread held would stay locked in it.
#ifndef KEEL_BASE_FORK_H_
#define KEEL_BASE_FORK_H_

#include <pthread.h>

// For a static mutex of the file: the thread that forks holds it, and both sides release it. Code
// that holds such a mutex takes no other one that is guarded so.
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
