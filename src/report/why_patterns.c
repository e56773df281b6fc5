#include "report/why_internal.h"

keel_status_t keel_why_find_patterns(keel_why_t *why) {
    (void)why;
    return NULL;
}
