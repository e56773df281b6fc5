// What Keel reads in shardings: the parts of each dimension, and the place of each partition's
// part.
//
// Reads lines of "RANK PARTITIONS SHARDING", an OpSharding in hexadecimal. Answers each with one
// line, "2 4 at 0,0 0,1 ...", or with the reason why it cannot: "no: ...".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "signature/signature.h"

enum { RANK_MOST = 8, PARTITIONS_MOST = 64, LINE_MOST = 1 << 16 };

static void tell_places(keel_bytes_t sharding, uint32_t rank, uint32_t partitions) {
    if (keel_sharding_is_unreduced(sharding)) printf(" shares");
    int64_t places[RANK_MOST * PARTITIONS_MOST];
    keel_status_t status = keel_sharding_places(sharding, rank, partitions, places);
    if (status) printf(" nowhere");
    for (uint32_t i = 0; !status && i < partitions; ++i)
        for (uint32_t j = 0; j < rank; ++j)
            printf("%s%" PRId64, j ? "," : " ", places[i * rank + j]);
    keel_status_ignore(status);
}

static keel_status_t tell(keel_bytes_t sharding, uint32_t rank, uint32_t partitions) {
    int64_t parts[RANK_MOST];
    keel_buffer_t tiles;
    keel_buffer_initialize(&tiles, 0);
    keel_status_t status = keel_sharding_tiles(sharding, rank, &tiles);
    if (!status) status = keel_sharding_parts(keel_buffer_bytes(&tiles), rank, parts);
    for (uint32_t i = 0; !status && i < rank; ++i)
        printf("%" PRId64 " ", parts[i]);
    if (!status) printf("at");
    if (!status) tell_places(keel_buffer_bytes(&tiles), rank, partitions);
    keel_buffer_deinitialize(&tiles);
    return status;
}

int main(void) {
    static char line[LINE_MOST], text[LINE_MOST];
    static uint8_t bytes[LINE_MOST / 2];
    uint32_t rank, partitions;
    while (fgets(line, sizeof line, stdin)) {
        size_t size = 0;
        unsigned byte;
        if (sscanf(line, "%" SCNu32 " %" SCNu32 " %65535s", &rank, &partitions, text) != 3)
            return 2;
        if (rank > RANK_MOST || partitions > PARTITIONS_MOST) return 2;
        while (sscanf(text + 2 * size, "%2x", &byte) == 1)
            bytes[size++] = (uint8_t)byte;
        keel_status_t status = tell(keel_bytes(bytes, size), rank, partitions);
        if (status) printf("no: %s", keel_status_message(status));
        keel_status_ignore(status);
        printf("\n");
    }
    return 0;
}
