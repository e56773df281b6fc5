// partition: the shardings that a target's compiler chooses where a program has none. They are kept
// in the cache beside executables, so a rehearsal that compiles nothing asks the compiler only
// once. The entry has a key of its own, so nobody takes it for the executable.
#ifndef KEEL_ENGINE_PARTITION_H_
#define KEEL_ENGINE_PARTITION_H_

#include "engine/request.h"

// Makes the request's executable from that entry; false if there is none.
bool partition_load(request_t *request);
// If the compiler was asked for the shardings of the request's executable: notes how long it took,
// and stores them if `is_kept`.
void partition_take(request_t *request, bool is_kept);

#endif // KEEL_ENGINE_PARTITION_H_
