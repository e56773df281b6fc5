// base: what every other room builds on; nothing here knows XLA.
//
// status (include/keel/status.h)  how functions fail
// memory, arena                   allocation; a test can make any of them fail
// bytes, cursor                   spans of foreign bytes, and bounded reading of them
// proto                           the wire format of protobuf, read and written
// buffer, text                    growable output with a cap; numbers and times for people
// json                            writing JSON into a buffer
// map                             hash tables from bytes to a number
// pack, tar                       zstd frames; the headers of tar archives
// hash                            digests (BLAKE2b-256) and quick hashes (XXH3)
// files, lock, fault              every file operation; a test can make any fail, or kill there
// shared                          bytes that several owners read; a mapped file
// socket                          lines over a Unix socket
// process, answer                 another process of this machine: is it running; what it says
// fork                            mutexes that are free in a forked child
// clock, wait, log                time; waits with an end; one-line messages on stderr
// limits, assert                  the ends of waits and sizes; what must hold inside
//
// Ownership: the caller owns what a function returns through a parameter named `out_...`.
// Threads: the only hidden state is the log's memory of what it said (locked) and the fault
// counters.
#ifndef KEEL_BASE_BASE_H_
#define KEEL_BASE_BASE_H_

#include "base/answer.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/process.h"
#include "base/proto.h"
#include "base/shared.h"
#include "base/socket.h"
#include "base/text.h"
#include "base/wait.h"
#include "keel/status.h"

#endif // KEEL_BASE_BASE_H_
