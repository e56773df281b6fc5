// bridge: a plugin's table for clients that were built with an older or newer pjrt_c_api.h.
//
// PJRT lets argument structs grow at their end, and a plugin refuses one that is shorter than its
// own: "Unexpected PJRT_ExecuteOptions size: expected 112, got 80". Through the bridge it gets one
// of the size it wants, padded with zeros, and what it writes is copied back as far as the client's
// own struct reaches. The same applies to structs that arguments point to. Nothing is copied if the
// sizes agree.
//
// A plugin as new as this header wants at least this header's sizes. Any larger size comes from the
// plugin itself: its first refusal names the struct and the size, which the bridge remembers, and
// the call is repeated (a plugin checks sizes before it does anything). A longer struct is passed
// on, as PJRT intends, and truncated only if the plugin has refused it. Every other error goes to
// the client.
//
// Clients up to PJRT 0.70 state a wrong size for one struct, the arguments of Plugin_Attributes:
// their header left out the last member. The bridge writes that member anyway.
//
// Not bridged: functions that this header does not know, those of extensions, the arguments of the
// client's own callbacks, and lists that a plugin returns. If there is no memory for a copy, the
// plugin gets the client's own struct; after a few attempts the client gets the plugin's answer.
// The bridge makes no errors of its own.
//
// A process has one plugin, because PJRT's functions carry no context. The table lives as long as
// the process.
// Threads: any function of the table from any thread, and in forked children; there is no lock.
#ifndef KEEL_PJRT_BRIDGE_H_
#define KEEL_PJRT_BRIDGE_H_

#include "pjrt/pjrt.h"

// A table like `plugin`'s, as long as the longer of it and this header's. Call it once in
// a process: its functions carry no context, so the door alone has a bridge.
keel_status_t keel_bridge_create(const PJRT_Api *plugin, PJRT_Api **out) KEEL_MUST_CHECK;

// Lets functions in `table`, which the client gets, change back to the plugin's own. `table` is a
// copy of the bridge's table, or that itself. Call it once, before the client gets the table. A
// function changes back once it was called through this table with a size that the plugin accepts,
// unless its arguments point to structs: those may be absent now and present later. Keel's own
// calls say nothing about the client, so they go through the bridge's table. A second client in the
// process with shorter arguments is then not bridged.
void keel_bridge_settle_in(PJRT_Api *table);

#endif // KEEL_PJRT_BRIDGE_H_
