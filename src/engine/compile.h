// compile: the parts of the way of one program (compile.c) that are the same for one that the
// client loads by itself (elsewhere.c).
#ifndef KEEL_ENGINE_COMPILE_H_
#define KEEL_ENGINE_COMPILE_H_

#include "engine/executables.h"
#include "engine/verdict.h"

made_of_t compile_made_of(const request_t *request);
// The program and its options go to the journal.
void compile_keep_program(request_t *request);
// Gives the client what was loaded ahead under the program's key. *out_miss: see prefetch.h.
bool compile_load_ahead(request_t *request, keel_miss_t *out_miss);
// The executable, which is in the table, executes with those of other replicas.
void compile_join(request_t *request, const PJRT_LoadedExecutable *loaded);
// `entry` says how large it is and what compiling it took; `ahead`: nanoseconds of its load before
// the client asked.
void compile_journal_load(request_t *request, const char *tier, const keel_entry_t *entry,
                          uint64_t ahead);
// The client has it.
void compile_note_load(request_t *request, double compile_seconds);
// The client gets an error and nothing else. Afterwards the request's texts are gone.
PJRT_Error *compile_refuse(request_t *request, const verdict_t *verdict);
// All that follows once the client has its answer. Ends the request.
void compile_finish(request_t *request);

#endif // KEEL_ENGINE_COMPILE_H_
