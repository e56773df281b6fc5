// Whether a program fits this library.
#include "keel/version.h"

#include <stdio.h>

uint32_t keel_version_number(void) {
    unsigned major = 0, minor = 0, patch = 0;
    sscanf(KEEL_VERSION, "%u.%u.%u", &major, &minor, &patch);
    return major * 10000 + minor * 100 + patch;
}

keel_status_t keel_version_check_of(uint32_t header) {
    if (header / 100 == keel_version_number() / 100) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "this program was compiled with the header of keel %u.%u.%u, and the "
                            "library is %s; compile it again",
                            (unsigned)(header / 10000), (unsigned)(header / 100 % 100),
                            (unsigned)(header % 100), KEEL_VERSION);
}
