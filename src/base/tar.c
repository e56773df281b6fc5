#include "base/tar.h"

#include <stdio.h>

// Where the fields of a header are, and how long each is.
enum {
    NAME = 0,
    NAME_SIZE = 100,
    MODE = 100,
    SIZE = 124,
    SIZE_SIZE = 12,
    TIME = 136,
    SUM = 148,
    SUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    MAGIC_SIZE = 8,
    PREFIX = 345,
    PREFIX_SIZE = 155,
};
static const char magic[MAGIC_SIZE + 1] = "ustar\0"
                                          "00";

// Of all bytes, those of the sum itself as blanks.
static unsigned sum_of(const uint8_t *block) {
    unsigned sum = 0;
    for (size_t i = 0; i < KEEL_TAR_BLOCK; ++i)
        sum += i >= SUM && i < SUM + SUM_SIZE ? ' ' : block[i];
    return sum;
}

void keel_tar_put_header(keel_buffer_t *out, const char *name, uint64_t size) {
    char block[KEEL_TAR_BLOCK] = {0};
    snprintf(block + NAME, NAME_SIZE + 1, "%s", name);
    memcpy(block + MODE, "0000600", 8);
    memcpy(block + MODE + 8, "0000000", 8);
    memcpy(block + MODE + 16, "0000000", 8);
    snprintf(block + SIZE, SIZE_SIZE, "%011llo", (unsigned long long)size);
    memcpy(block + TIME, "00000000000", 12); // the same run gives the same file
    block[TYPE] = '0';
    memcpy(block + MAGIC, magic, MAGIC_SIZE);
    snprintf(block + SUM, SUM_SIZE, "%06o", sum_of((const uint8_t *)block));
    block[SUM + SUM_SIZE - 1] = ' ';
    keel_buffer_append(out, block, sizeof block);
}

size_t keel_tar_padding(uint64_t size) {
    return (size_t)((KEEL_TAR_BLOCK - size % KEEL_TAR_BLOCK) % KEEL_TAR_BLOCK);
}

void keel_tar_put_end(keel_buffer_t *out) {
    static const uint8_t zeros[2 * KEEL_TAR_BLOCK];
    keel_buffer_append(out, zeros, sizeof zeros);
}

// Octal digits, then a blank or a zero byte.
static bool read_number(const uint8_t *field, size_t size, uint64_t *out) {
    size_t at = 0;
    *out = 0;
    for (; at < size && field[at] >= '0' && field[at] <= '7'; ++at)
        *out = *out * 8 + (uint64_t)(field[at] - '0');
    return at && (at == size || field[at] == ' ' || field[at] == 0);
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (bytes[i]) return false;
    return true;
}

keel_status_t keel_tar_read_header(const uint8_t block[KEEL_TAR_BLOCK], keel_tar_member_t *out,
                                   bool *out_end) {
    uint64_t sum;
    *out = (keel_tar_member_t){.size = 0};
    *out_end = is_zero(block, KEEL_TAR_BLOCK);
    if (*out_end) return NULL;
    if (!read_number(block + SUM, SUM_SIZE, &sum) || sum != sum_of(block) ||
        memcmp(block + MAGIC, magic, MAGIC_SIZE) != 0)
        return keel_status_make(KEEL_CORRUPT, "a header of the archive is damaged");
    if (block[TYPE] != '0' && block[TYPE] != 0)
        return keel_status_make(KEEL_CORRUPT, "it has a member that is not a regular file");
    if (!read_number(block + SIZE, SIZE_SIZE, &out->size) || block[PREFIX])
        return keel_status_make(KEEL_CORRUPT, "a header of the archive is unusual");
    memcpy(out->name, block + NAME, NAME_SIZE);
    return NULL;
}
