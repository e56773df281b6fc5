// bridge: a plugin's table for clients that were built with an older or newer pjrt_c_api.h.
//
// PJRT lets argument structs grow at their end, and a plugin refuses one that is shorter than its
// own: "Unexpected PJRT_ExecuteOptions size: expected 112, got 80". Behind the bridge it gets one
// of the size that it wants, filled up with zeros, and what it writes is copied back as far as the
// client's own struct goes. The same for structs that arguments point to. Nothing is copied where
// the sizes agree.
//
// What a plugin wants is at least what this header has, if it is as new as this header; beyond that
// it says so itself: its first refusal names the struct and the size, is kept in mind, and the call
// is made again (a size is looked at before anything is done). A longer struct is handed on, as
// PJRT wants it, and cut only where the plugin has refused it. Every other error is the client's.
//
// Clients up to PJRT 0.70 tell a wrong size of one struct, the arguments of Plugin_Attributes:
// their header left the last member out of it. It is written all the same.
//
// Not bridged: functions that this header does not know, those of extensions, the arguments of the
// client's own callbacks, and lists that a plugin hands out. Where there is no memory for a copy
// the client's own struct is handed on; the plugin's answer to that, after a few attempts, is the
// client's. The bridge makes no error of its own.
//
// There is one plugin in a process: PJRT's functions carry no context. The table lives as long.
// Threads: any function of the table from any thread, and in forked children; there is no lock.
#ifndef KEEL_PJRT_BRIDGE_H_
#define KEEL_PJRT_BRIDGE_H_

#include "pjrt/pjrt.h"

// A table like `plugin`'s, as long as the longer of it and this header's. To be called once.
keel_status_t keel_bridge_create(const PJRT_Api *plugin, PJRT_Api **out) KEEL_MUST_CHECK;

// Lets functions go back to the plugin's own in `table`, which is what the client has: a copy of
// the bridge's table, or that itself. To be called once, before the client gets it. A function does
// once it was called through this table with a size that the plugin takes, and has no structs that
// its arguments point to: those may be absent now and there later. Keel's own calls, which say
// nothing of the client's, go through the bridge's table. A second client of the process with
// shorter arguments is then on its own.
void keel_bridge_settle_in(PJRT_Api *table);

// What the plugin is known to want of a struct, such as "PJRT_ExecuteOptions"; 0 where it is not
// known.
size_t keel_bridge_wanted(const char *name);

#endif // KEEL_PJRT_BRIDGE_H_
