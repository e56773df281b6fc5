#include "engine/bulk.h"

#include <stdio.h>

void bulk_executed(bulk_t *bulk, uint64_t computed) {
    bulk->bytes -= computed < bulk->bytes ? computed : bulk->bytes;
}

uint64_t bulk_read(bulk_t *bulk, uint64_t bytes) {
    if (bulk->writes == KEEL_WRITES_DISCARD) return 0;
    bulk->bytes = bytes > UINT64_MAX - bulk->bytes ? UINT64_MAX : bulk->bytes + bytes;
    return bulk->bytes > BULK_BYTES ? bulk->bytes : 0;
}

keel_status_t bulk_judge(const bulk_t *bulk, const keel_place_t *place, const char *maker,
                         uint64_t bytes) {
    char size[16], number[16] = "";
    keel_format_size(bytes, size);
    if (place) snprintf(number, sizeof number, ":%u", place->line);
    const char *file = place ? place->file : "an unknown line";
    if (bulk->writes == KEEL_WRITES_KEEP) {
        keel_log_once("bulk",
                      "%s%s reads %s of %s that no device computed; with --writes keep, what the "
                      "command saves of it replaces your files",
                      file, number, size, maker);
        return NULL;
    }
    return keel_status_make(KEEL_REFUSED,
                            "keel: %s%s reads %s of %s that no device computed, and what is saved "
                            "of it would replace files; --writes keep allows that, --writes "
                            "discard runs the command where its files are its own",
                            file, number, size, maker);
}
