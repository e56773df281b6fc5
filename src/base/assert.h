// assert: what must hold inside Keel, whatever comes from outside: an index into one of its own
// tables, who owns something, which lock is held. In debug and sanitizer builds a condition that
// does not hold ends the process with its place; in release builds it is not evaluated. What a
// file, a plugin or a user can get wrong is an error, never an assertion.
#ifndef KEEL_BASE_ASSERT_H_
#define KEEL_BASE_ASSERT_H_

#ifdef KEEL_ASSERTS
// Ends the process.
_Noreturn void keel_assert_failed(const char *condition, const char *file, int line);
#define KEEL_ASSERT(condition)                                                                     \
    ((condition) ? (void)0 : keel_assert_failed(#condition, __FILE__, __LINE__))
#else
// Still compiled, so that it cannot rot and its variables count as used.
#define KEEL_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif // KEEL_BASE_ASSERT_H_
