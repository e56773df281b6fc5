// base: what every room stands on, and nothing that knows XLA.
//
// status (include/keel/status.h)  how functions fail
// memory, arena                   who allocates; every allocation can be made to fail by a test
// bytes, cursor, proto            spans of foreign bytes and bounded reading of them
// buffer, text                    growable output with a cap, numbers and times as people read them
// map                             hash tables from bytes to a number
// hash                            digests (BLAKE2b-256) and quick hashes (XXH3)
// files, lock, fault              every file operation; each can be made to fail, or to kill
// process                         another process of this machine: does it run?
// fork                            mutexes that a forked child finds free
// clock, log                      time; the one line on stderr
//
// Ownership: what a function returns through an out-parameter named `out_...` is the caller's.
// Threads: no hidden state but the log's memory of what was said (locked) and the fault counters.
#ifndef KEEL_BASE_BASE_H_
#define KEEL_BASE_BASE_H_

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/proto.h"
#include "base/text.h"
#include "keel/status.h"

#endif // KEEL_BASE_BASE_H_
