// Detects the format of bytes.
#include "read/read.h"

bool keel_read_is_mlir(keel_bytes_t bytes) {
    return bytes.size >= 4 && memcmp(bytes.data, "ML\xefR", 4) == 0;
}

static bool is_printed(keel_bytes_t bytes) {
    enum { LOOKED_AT = 512 };
    for (size_t i = 0; i < bytes.size && i < LOOKED_AT; ++i) {
        uint8_t c = bytes.data[i];
        if (c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r')) return false;
    }
    return true;
}

bool keel_read_is_text(keel_bytes_t bytes) {
    static const char *const words[] = {"module", "//", "#", "HloModule", "func"};
    if (!is_printed(bytes)) return false;
    size_t at = 0;
    while (at < bytes.size && memchr(" \t\r\n", bytes.data[at], 4))
        ++at;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t length = strlen(words[i]);
        if (bytes.size - at >= length && memcmp(bytes.data + at, words[i], length) == 0)
            return true;
    }
    return false;
}
