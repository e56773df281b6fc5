// wait: condition variables that wait by the monotonic clock. Setting the wall clock (NTP, a
// machine that wakes up) neither ends a wait nor prolongs it.
#ifndef KEEL_BASE_WAIT_H_
#define KEEL_BASE_WAIT_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// For conditions that keel_wait_until waits for; pthread_cond_destroy ends them.
void keel_wait_initialize(pthread_cond_t *condition);
// Waits until the condition is signaled, or until that time of keel_clock_monotonic; then false.
bool keel_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t time);

#endif // KEEL_BASE_WAIT_H_
