// Room-internal: a program without names.
#ifndef KEEL_PACK_PROGRAM_H_
#define KEEL_PACK_PROGRAM_H_

#include "pack/names.h"

// Replaces the names in a program's bytes: of files, functions, arguments, results and, in HLO, of
// instructions. What must stay what it is (operations, attributes, targets of custom calls and
// their configurations, axes of meshes) stays. The program's key is then that of before;
// KEEL_UNSUPPORTED, with the reason, if it is not, or if the program cannot be read.
keel_status_t program_strip(names_t *names, uint8_t *bytes, size_t size,
                            bool is_hlo) KEEL_MUST_CHECK;

#endif // KEEL_PACK_PROGRAM_H_
