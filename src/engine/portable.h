// portable: options of programs for several replicas that run on one device. See portable.c.
#ifndef KEEL_ENGINE_PORTABLE_H_
#define KEEL_ENGINE_PORTABLE_H_

#include "pjrt/pjrt.h"
#include "program/program.h"

// Does this plugin never end the execution, on one device, of a program for several replicas?
bool portable_is_needed(const char *platform, const PJRT_Api *api);
// How many replicas a program is compiled for, where that is all that is to become of it: one
// partition, one process, not portable. Else, or where the options are not understood, 0.
uint64_t portable_replicas(keel_bytes_t options);
// An operation that may do something else on each replica; "" where there is none.
keel_str_t portable_obstacle(const keel_program_t *program);
// Options for which portable_replicas is not 0, for one replica on any device.
keel_status_t portable_options(keel_bytes_t options, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_PORTABLE_H_
