#include "base/buffer.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/poison.h"
#include "base/text.h"

void keel_buffer_initialize(keel_buffer_t *buffer, size_t limit) {
    *buffer = (keel_buffer_t){.limit = limit ? limit : SIZE_MAX - 1};
}

void keel_buffer_deinitialize(keel_buffer_t *buffer) {
    keel_free(buffer->data);
    keel_buffer_initialize(buffer, buffer->limit);
}

static bool fail(keel_buffer_t *buffer) {
    buffer->failed = true;
    return false;
}

static bool grow(keel_buffer_t *buffer, size_t size) {
    KEEL_ASSERT(buffer->size <= buffer->limit);
    KEEL_ASSERT(!buffer->capacity || buffer->size < buffer->capacity);
    if (buffer->failed || size > buffer->limit - buffer->size) return fail(buffer);
    size_t needed = buffer->size + size + 1;
    if (needed <= buffer->capacity) {
        keel_unpoison(buffer->data, buffer->size, size + 1);
        return true;
    }
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    void *data = buffer->data;
    keel_status_t status = keel_realloc_array(capacity, 1, &data);
    if (status) {
        keel_status_ignore(status);
        return fail(buffer);
    }
    keel_poison(data, needed, capacity - needed);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void keel_buffer_append(keel_buffer_t *buffer, const void *data, size_t size) {
    if (!size || !grow(buffer, size)) return;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void keel_buffer_byte(keel_buffer_t *buffer, uint8_t byte) {
    keel_buffer_append(buffer, &byte, 1);
}

void keel_buffer_text(keel_buffer_t *buffer, const char *text) {
    keel_buffer_append(buffer, text, strlen(text));
}

void keel_buffer_str(keel_buffer_t *buffer, keel_str_t text) {
    keel_buffer_append(buffer, text.data, text.size);
}

void keel_buffer_format(keel_buffer_t *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    char small[256];
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof small) {
        keel_buffer_append(buffer, small, (size_t)length);
    } else if (length < 0 || !grow(buffer, (size_t)length)) {
        fail(buffer);
    } else {
        vsnprintf((char *)buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
}

void keel_buffer_u32(keel_buffer_t *buffer, uint32_t value) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; ++i)
        bytes[i] = (uint8_t)(value >> (8 * i));
    keel_buffer_append(buffer, bytes, sizeof bytes);
}

void keel_buffer_u64(keel_buffer_t *buffer, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i)
        bytes[i] = (uint8_t)(value >> (8 * i));
    keel_buffer_append(buffer, bytes, sizeof bytes);
}

static bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// A control or a mark that turns the order of letters: none has more than three bytes.
static void put_escaped(keel_buffer_t *buffer, keel_str_t text, size_t at, size_t length) {
    const uint8_t *c = (const uint8_t *)text.data + at;
    unsigned value = length == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                                 : (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    keel_buffer_format(buffer, "\\u%04x", value);
}

void keel_buffer_json_str(keel_buffer_t *buffer, keel_str_t text) {
    keel_buffer_byte(buffer, '"');
    for (size_t i = 0; i < text.size;) {
        size_t plain = i;
        while (plain < text.size && is_plain((unsigned char)text.data[plain]))
            ++plain;
        keel_buffer_append(buffer, text.data + i, plain - i);
        i = plain;
        if (i == text.size) break;
        size_t length = keel_utf8_length(text, i), shown;
        unsigned char c = (unsigned char)text.data[i];
        if (!length) {
            keel_buffer_text(buffer, "\xEF\xBF\xBD");
            length = 1;
        } else if (length > 1 && !keel_utf8_shows(text, i, &shown)) {
            put_escaped(buffer, text, i, length);
        } else if (c == '"' || c == '\\') {
            keel_buffer_byte(buffer, '\\');
            keel_buffer_byte(buffer, c);
        } else if (c == '\n') {
            keel_buffer_text(buffer, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            keel_buffer_format(buffer, "\\u%04x", c);
        } else {
            keel_buffer_append(buffer, text.data + i, length);
        }
        i += length;
    }
    keel_buffer_byte(buffer, '"');
}

void keel_buffer_hex(keel_buffer_t *buffer, keel_bytes_t bytes) {
    static const char digits[] = "0123456789abcdef";
    if (bytes.size > SIZE_MAX / 2 || !grow(buffer, bytes.size * 2)) {
        fail(buffer);
        return;
    }
    for (size_t i = 0; i < bytes.size; ++i) {
        buffer->data[buffer->size++] = (uint8_t)digits[bytes.data[i] >> 4];
        buffer->data[buffer->size++] = (uint8_t)digits[bytes.data[i] & 15];
    }
    buffer->data[buffer->size] = 0;
}

uint8_t *keel_buffer_reserve(keel_buffer_t *buffer, size_t size) {
    return grow(buffer, size) ? buffer->data + buffer->size : NULL;
}

keel_status_t keel_buffer_status(const keel_buffer_t *buffer) {
    if (!buffer->failed) return NULL;
    return keel_status_make(KEEL_NO_MEMORY,
                            "a buffer could not grow past %zu bytes (its cap is %zu)", buffer->size,
                            buffer->limit);
}

const char *keel_buffer_cstr(const keel_buffer_t *buffer) {
    return buffer->size ? (const char *)buffer->data : "";
}

keel_status_t keel_buffer_take(keel_buffer_t *buffer, uint8_t **out, size_t *out_size) {
    if (!grow(buffer, 0)) return keel_buffer_status(buffer);
    buffer->data[buffer->size] = 0;
    *out = buffer->data;
    *out_size = buffer->size;
    keel_buffer_initialize(buffer, buffer->limit);
    return NULL;
}
