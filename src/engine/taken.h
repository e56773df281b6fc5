// taken: the executables that the client took from loaded ones, by pointer. A client takes one of
// each program, so a process may have thousands. One thread at a time.
#ifndef KEEL_ENGINE_TAKEN_H_
#define KEEL_ENGINE_TAKEN_H_

#include "engine/executables.h"

typedef struct taken_t {
    const PJRT_Executable *executable;
    keel_stored_t *stored; // NULL: none
    made_of_t made_of;
    uint8_t *outline; // of its optimized program (outline.c), once a client asked for it
    size_t outline_size;
    bool is_outlined; // it was asked for; without an outline there is none
    struct taken_t *next;
} taken_t;

// Starts as zeros; `size` is 0 or a power of two.
typedef struct taken_table_t {
    taken_t **chains;
    size_t size, count;
} taken_table_t;

// Takes it over, also on failure. Of several with the same pointer, the last one is found.
keel_status_t taken_add(taken_table_t *table, taken_t *taken) KEEL_MUST_CHECK;
// NULL if there is none.
taken_t *taken_find(const taken_table_t *table, const PJRT_Executable *executable);
// Removes what taken_find finds; the caller frees it.
taken_t *taken_remove(taken_table_t *table, const PJRT_Executable *executable);
// Frees one that is in no table.
void taken_free(taken_t *taken);
// Frees all; the table is empty then.
void taken_clear(taken_table_t *table);

#endif // KEEL_ENGINE_TAKEN_H_
