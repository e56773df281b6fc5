#define _GNU_SOURCE // memmem
#include "base/bytes.h"

bool keel_str_contains(keel_str_t text, const char *part) {
    return text.size && memmem(text.data, text.size, part, strlen(part));
}

keel_str_t keel_str_without_number(keel_str_t name, char separator) {
    size_t size = name.size;
    while (size && keel_is_digit(name.data[size - 1]))
        --size;
    bool has_number = size > 1 && size < name.size && name.data[size - 1] == separator;
    return has_number ? (keel_str_t){name.data, size - 1} : name;
}
