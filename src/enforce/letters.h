// letters: what the processes of a job tell each other in their meeting place (meet/meet.h), each
// with the name of the process that wrote it in front: "<name>\n<text>". What an earlier attempt of
// the same job left there is thereby recognized: its writer has ended.
//
// Threads: any may put; the others by one thread at a time.
#ifndef KEEL_ENFORCE_LETTERS_H_
#define KEEL_ENFORCE_LETTERS_H_

#include "meet/meet.h"

enum { LETTERS_PROCESSES = 4096, LETTERS_MOST = KEEL_MEET_VALUE - KEEL_PROCESS_NAME - 1 };

typedef struct letters_t {
    keel_meet_t *meet; // borrowed
    char own[KEEL_PROCESS_NAME];
    char *names[LETTERS_PROCESSES]; // of the processes that have written, by number
    bool has_twins; // two processes that both run write under one number: two jobs mix here
} letters_t;

void letters_initialize(letters_t *letters);
void letters_deinitialize(letters_t *letters);

keel_status_t letters_put(const letters_t *letters, const char *key,
                          keel_bytes_t text) KEEL_MUST_CHECK;
// The letter of that process, appended; the rest as keel_meet_get.
keel_status_t letters_get(letters_t *letters, uint32_t process, const char *key, uint64_t until,
                          keel_buffer_t *out) KEEL_MUST_CHECK;

// The same without a wait, whoever wrote it, if that process still runs. Any thread.
keel_status_t letters_peek(const letters_t *letters, const char *key,
                           keel_buffer_t *out) KEEL_MUST_CHECK;

bool letters_has_come(const letters_t *letters, uint32_t process);
// Whether it has come and will write no more.
bool letters_is_gone(const letters_t *letters, uint32_t process);

#endif // KEEL_ENFORCE_LETTERS_H_
