// Room-internal: which members a file has.
#ifndef KEEL_PACK_MEMBER_H_
#define KEEL_PACK_MEMBER_H_

#include "base/base.h"

#define PACK_LABEL "keel-pack.json" // the first member
enum { PACK_FORM = 1 };             // of the file; a reader refuses others

// Whether a file of that run may have a member of that name, after the first one.
bool member_is_allowed(keel_str_t name, keel_str_t run);

#endif // KEEL_PACK_MEMBER_H_
