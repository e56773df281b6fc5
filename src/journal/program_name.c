#include "journal/program_name.h"

// Frame, length, mark: all that is the same in every file.
enum { MARK = 12, HEAD = 8 + MARK, SIZE = HEAD + 2 * KEEL_DIGEST_SIZE };
static const uint8_t head[HEAD] = {0x5b, 0x2a, 0x4d, 0x18, SIZE - 8, 0,   0,   0,   'k', 'e',
                                   'e',  'l',  ' ',  'n',  'a',      'm', 'e', ' ', '1', '\n'};

void keel_program_name_write(const keel_program_name_t *name, keel_buffer_t *out) {
    keel_buffer_append(out, head, sizeof head);
    keel_buffer_append(out, name->program.bytes, KEEL_DIGEST_SIZE);
    keel_buffer_append(out, name->content.bytes, KEEL_DIGEST_SIZE);
}

bool keel_program_name_read(keel_bytes_t *file, keel_program_name_t *out) {
    if (file->size < SIZE) return false;
    const uint8_t *at = file->data + file->size - SIZE;
    if (memcmp(at, head, sizeof head) != 0) return false;
    memcpy(out->program.bytes, at + HEAD, KEEL_DIGEST_SIZE);
    memcpy(out->content.bytes, at + HEAD + KEEL_DIGEST_SIZE, KEEL_DIGEST_SIZE);
    file->size -= SIZE;
    return true;
}
