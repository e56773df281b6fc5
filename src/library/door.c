#include "keel/version.h"

const char *keel_version(void) {
    return KEEL_VERSION;
}
