// Status: how functions of Keel report failure.
//
// A status is NULL on success, otherwise a small heap object with a code and one line of text that
// names the thing, its value and the next step. Whoever receives a status owns it and forwards it
// (KEEL_TRY), reports and frees it, or frees it (keel_status_ignore). Running out of memory is
// reported by a static object, so that reporting it cannot fail.
// Threads: a status belongs to one thread at a time.
#ifndef KEEL_STATUS_H_
#define KEEL_STATUS_H_

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KEEL_API __attribute__((visibility("default")))
#define KEEL_PRINTF(string, first) __attribute__((format(printf, string, first)))
#define KEEL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define KEEL_API
#define KEEL_PRINTF(string, first)
#define KEEL_MUST_CHECK
#endif

// code, word, sentence
#define KEEL_STATUS_CODES(X)                                                                       \
    X(INVALID, "invalid", "an argument, a setting or a file cannot be understood")                 \
    X(NOT_FOUND, "not found", "the thing asked for does not exist")                                \
    X(UNSUPPORTED, "unsupported", "understood, but not something Keel handles")                    \
    X(CORRUPT, "corrupt", "bytes that were once good are damaged")                                 \
    X(NO_MEMORY, "out of memory", "an allocation failed")                                          \
    X(IO, "input or output", "the operating system refused a file operation")                      \
    X(REFUSED, "refused", "the user asked for this to be refused")                                 \
    X(PLUGIN, "plugin", "the PJRT plugin answered with an error")                                  \
    X(INTERNAL, "internal", "a fault in Keel itself")

typedef enum keel_code {
    KEEL_OK = 0,
#define KEEL_STATUS_ENUM(name, word, sentence) KEEL_##name,
    KEEL_STATUS_CODES(KEEL_STATUS_ENUM)
#undef KEEL_STATUS_ENUM
} keel_code_t;

typedef struct keel_status_s *keel_status_t;

// Makes a status; the message is formatted at once and cut at 4 KiB.
KEEL_API keel_status_t keel_status_make(keel_code_t code, const char *format, ...)
    KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

// Puts a context in front of the message ("reading a.mlir: ..."). Takes `status` and returns it.
KEEL_API keel_status_t keel_status_annotate(keel_status_t status, const char *format, ...)
    KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

// KEEL_OK for NULL.
KEEL_API keel_code_t keel_status_code(keel_status_t status);

// The message without the code; "" for NULL. Lives as long as the status.
KEEL_API const char *keel_status_message(keel_status_t status);

// The code's word ("not found"); "ok" for KEEL_OK.
KEEL_API const char *keel_code_word(keel_code_t code);

// Where the status was made, to put behind a line of a log: " [src/store/disk.c:88]". "" for NULL,
// and always in a release build, which does not record it. Lives as long as the status.
KEEL_API const char *keel_status_place(keel_status_t status);

// Frees a status; NULL is allowed.
KEEL_API void keel_status_ignore(keel_status_t status);

// Debug builds of Keel itself.
#ifdef KEEL_STATUS_PLACES
KEEL_API keel_status_t keel_status_make_at(const char *file, int line, keel_code_t code,
                                           const char *format, ...)
    KEEL_PRINTF(4, 5) KEEL_MUST_CHECK;
#define keel_status_make(...) keel_status_make_at(__FILE__, __LINE__, __VA_ARGS__)
#endif

// KEEL_TRY(expression) returns the expression's status to the caller, if it is not NULL.
#define KEEL_TRY(...)                                                                              \
    do {                                                                                           \
        keel_status_t keel_try_status_ = __VA_ARGS__;                                              \
        if (keel_try_status_) return keel_try_status_;                                             \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif // KEEL_STATUS_H_
