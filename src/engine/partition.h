// partition: how a target's compiler shards what a program does not, kept in the cache beside
// executables: a rehearsal that compiles nothing asks the compiler only once. Its entry has a key
// of its own, so nobody takes it for the executable.
#ifndef KEEL_ENGINE_PARTITION_H_
#define KEEL_ENGINE_PARTITION_H_

#include "engine/request.h"

// Makes the request's executable of what is kept; false if nothing is.
bool partition_load(request_t *request);
// Notes how long the compiler took to say it of the request's executable, if it was asked, and
// keeps that if the program may be kept.
void partition_take(request_t *request, bool is_kept);

#endif // KEEL_ENGINE_PARTITION_H_
