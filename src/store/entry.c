#include "store/entry.h"

#include <zstd.h>
#include <zstd_errors.h>

enum { ZSTD_HIGHEST_RATIO = 1 << 16 };
// A field that entries of version 1 do not have, or only those that are signed.
#define IS_OPTIONAL(tag) ((tag) == TAG_LOAD_SECONDS || (tag) == TAG_SIGNATURE)

enum {
    AT_VERSION = 8,
    AT_OLDEST_READER = 12,
    AT_HEADER_SIZE = 16,
    AT_STORED_SIZE = 24,
    AT_HEADER_DIGEST = 32,
    AT_PAYLOAD_DIGEST = 64,
};

static const uint8_t magic[8] = {0x89, 'K', 'E', 'E', 'L', '\r', '\n', 0x1a};

typedef enum tag {
#define TAG(number, name, size) TAG_##name = number,
    KEEL_ENTRY_FIELDS(TAG)
#undef TAG
        TAG_END,
} tag_t;

static const size_t field_sizes[TAG_END] = {
#define SIZE(number, name, size) [number] = size,
    KEEL_ENTRY_FIELDS(SIZE)
#undef SIZE
};

static const char *const field_names[TAG_END] = {
#define NAME(number, name, size) [number] = #name,
    KEEL_ENTRY_FIELDS(NAME)
#undef NAME
};

void keel_entry_initialize(keel_entry_t *entry) {
    *entry = (keel_entry_t){0};
}

void keel_entry_deinitialize(keel_entry_t *entry) {
    keel_free(entry->components);
    keel_free(entry->name);
    keel_free(entry->writer);
    if (entry->shared)
        keel_shared_release(entry->shared);
    else
        keel_free(entry->payload);
    keel_entry_initialize(entry);
}

keel_status_t keel_entry_share(keel_entry_t *entry) {
    if (entry->shared || !entry->payload) return NULL;
    keel_shared_t *shared;
    uint8_t *payload = entry->payload;
    entry->payload = NULL; // it is gone if this fails
    KEEL_TRY(keel_shared_take(payload, entry->payload_size, &shared));
    entry->shared = shared;
    entry->payload = payload;
    return NULL;
}

static keel_status_t copy_parts(const keel_entry_t *entry, bool payload, keel_entry_t *copy) {
    KEEL_TRY(keel_strdup(keel_str(entry->components), &copy->components));
    KEEL_TRY(keel_strdup(keel_str(entry->name), &copy->name));
    KEEL_TRY(keel_strdup(keel_str(entry->writer), &copy->writer));
    if (!payload) return NULL;
    copy->payload_size = entry->payload_size;
    if (entry->shared) {
        copy->shared = keel_shared_retain(entry->shared);
        copy->payload = entry->payload;
        return NULL;
    }
    return keel_bytes_dup(keel_bytes(entry->payload, entry->payload_size), &copy->payload);
}

keel_status_t keel_entry_copy(const keel_entry_t *entry, bool payload, keel_entry_t *out) {
    keel_entry_t copy = {
        .key = entry->key,
        .program = entry->program,
        .created = entry->created,
        .compile_seconds = entry->compile_seconds,
        .load_seconds = entry->load_seconds,
        .needs_version_2 = entry->needs_version_2,
    };
    keel_status_t status = copy_parts(entry, payload, &copy);
    if (status) {
        keel_entry_deinitialize(&copy);
        return status;
    }
    *out = copy;
    return NULL;
}

// ---- encode ------------------------------------------------------------------------------------

static void store_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void store_u64(uint8_t *at, uint64_t value) {
    store_u32(at, (uint32_t)value);
    store_u32(at + 4, (uint32_t)(value >> 32));
}

static void put_field(keel_buffer_t *buffer, tag_t tag, const void *data, size_t size) {
    keel_buffer_u32(buffer, tag);
    keel_buffer_u32(buffer, (uint32_t)size);
    keel_buffer_append(buffer, data, size);
}

static void put_text(keel_buffer_t *buffer, tag_t tag, const char *text) {
    put_field(buffer, tag, text, text ? strlen(text) : 0);
}

static void put_u64(keel_buffer_t *buffer, tag_t tag, uint64_t value) {
    uint8_t bytes[8];
    store_u64(bytes, value);
    put_field(buffer, tag, bytes, sizeof bytes);
}

static void put_seconds(keel_buffer_t *buffer, tag_t tag, double seconds) {
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    put_u64(buffer, tag, bits);
}

static void put_fields(const keel_entry_t *entry, keel_codec_t codec, keel_buffer_t *buffer) {
    uint8_t codec_bytes[4];
    store_u32(codec_bytes, codec);
    put_field(buffer, TAG_KEY, entry->key.bytes, KEEL_DIGEST_SIZE);
    put_field(buffer, TAG_PROGRAM, entry->program.bytes, KEEL_DIGEST_SIZE);
    put_text(buffer, TAG_COMPONENTS, entry->components);
    put_text(buffer, TAG_NAME, entry->name);
    put_text(buffer, TAG_WRITER, entry->writer);
    put_u64(buffer, TAG_CREATED, entry->created);
    put_seconds(buffer, TAG_COMPILE_SECONDS, entry->compile_seconds);
    put_field(buffer, TAG_CODEC, codec_bytes, sizeof codec_bytes);
    put_u64(buffer, TAG_PAYLOAD_SIZE, entry->payload_size);
    if (entry->load_seconds > 0) put_seconds(buffer, TAG_LOAD_SECONDS, entry->load_seconds);
}

static size_t text_size(const char *text) {
    return text ? strlen(text) : 0;
}

static keel_status_t check_sizes(const keel_entry_t *entry) {
    size_t texts[] = {text_size(entry->components), text_size(entry->name),
                      text_size(entry->writer)};
    size_t total = 0;
    for (int i = 0; i < 3; ++i) {
        total += texts[i];
        if (texts[i] > KEEL_ENTRY_HEADER_LIMIT || total > KEEL_ENTRY_HEADER_LIMIT - 1024)
            return keel_status_make(KEEL_INVALID,
                                    "an entry's components, name and writer take more than %d "
                                    "bytes; not stored",
                                    KEEL_ENTRY_HEADER_LIMIT - 1024);
    }
    if (entry->payload_size > KEEL_ENTRY_PAYLOAD_LIMIT)
        return keel_status_make(KEEL_INVALID,
                                "an executable of %zu bytes is over the limit of %llu bytes; "
                                "not stored",
                                entry->payload_size, KEEL_ENTRY_PAYLOAD_LIMIT);
    return NULL;
}

static uint32_t oldest_reader(const keel_entry_t *entry) {
    bool is_new = entry->needs_version_2 || entry->payload_size >= KEEL_ENTRY_LARGE ||
                  keel_entry_is_record(entry);
    return is_new ? 2 : KEEL_ENTRY_OLDEST;
}

static keel_digest_t payload_digest(uint32_t oldest_reader, keel_bytes_t stored) {
    return oldest_reader < 2 ? keel_digest(stored) : keel_content_digest(stored);
}

static void seal(const keel_entry_t *entry, uint8_t *head, size_t header, keel_bytes_t stored) {
    uint32_t oldest = oldest_reader(entry);
    keel_digest_t payload = payload_digest(oldest, stored);
    memcpy(head, magic, sizeof magic);
    store_u32(head + AT_VERSION, oldest);
    store_u32(head + AT_OLDEST_READER, oldest);
    store_u64(head + AT_HEADER_SIZE, header);
    store_u64(head + AT_STORED_SIZE, stored.size);
    memcpy(head + AT_PAYLOAD_DIGEST, payload.bytes, KEEL_DIGEST_SIZE);
    keel_digest_t digest = keel_entry_header_digest(head, header);
    memcpy(head + AT_HEADER_DIGEST, digest.bytes, KEEL_DIGEST_SIZE);
}

// Whether packing a large payload is worth what unpacking costs each load, by samples of it. The
// numbers of a trained model hardly pack.
static keel_status_t packs_well(keel_bytes_t payload, bool *out) {
    enum { SAMPLES = 16, SAMPLE = 64 << 10 };
    *out = true;
    if (payload.size < KEEL_ENTRY_LARGE) return NULL;
    uint64_t packed = 0;
    for (size_t i = 0; i < SAMPLES; ++i) {
        size_t at = (payload.size - SAMPLE) / (SAMPLES - 1) * i;
        uint8_t *data;
        size_t size;
        KEEL_TRY(keel_pack(keel_bytes(payload.data + at, SAMPLE), &data, &size));
        keel_free(data);
        packed += size;
    }
    *out = packed < (uint64_t)SAMPLES * SAMPLE * 3 / 4;
    return NULL;
}

// What is stored of the payload.
static keel_status_t pack_payload(const keel_entry_t *entry, keel_entry_file_t *file) {
    size_t packed_size;
    bool packs;
    file->stored = keel_bytes(entry->payload, entry->payload_size);
    KEEL_TRY(packs_well(file->stored, &packs));
    if (!packs || keel_entry_is_record(entry)) return NULL;
    KEEL_TRY(keel_pack(file->stored, &file->owned_stored, &packed_size));
    if (packed_size < entry->payload_size) {
        file->stored = keel_bytes(file->owned_stored, packed_size);
        return NULL;
    }
    keel_free(file->owned_stored);
    file->owned_stored = NULL;
    return NULL;
}

static keel_status_t write_head(const keel_entry_t *entry, keel_entry_file_t *file) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    if (keel_buffer_reserve(&buffer, KEEL_ENTRY_ENVELOPE)) buffer.size = KEEL_ENTRY_ENVELOPE;
    put_fields(entry, file->owned_stored ? KEEL_CODEC_ZSTD : KEEL_CODEC_RAW, &buffer);
    size_t size;
    keel_status_t status = keel_buffer_take(&buffer, &file->owned_head, &size);
    if (!status) {
        file->head = keel_bytes(file->owned_head, size);
        seal(entry, file->owned_head, size, file->stored);
    }
    keel_buffer_deinitialize(&buffer);
    return status;
}

keel_status_t keel_entry_encode_parts(const keel_entry_t *entry, keel_entry_file_t *out) {
    *out = (keel_entry_file_t){.owned_head = NULL};
    KEEL_TRY(check_sizes(entry));
    keel_status_t status = pack_payload(entry, out);
    if (!status) status = write_head(entry, out);
    if (status) keel_entry_file_release(out);
    return status;
}

void keel_entry_file_release(keel_entry_file_t *file) {
    keel_free(file->owned_head);
    keel_free(file->owned_stored);
    *file = (keel_entry_file_t){.owned_head = NULL};
}

keel_status_t keel_entry_encode(const keel_entry_t *entry, uint8_t **out, size_t *out_size) {
    keel_entry_file_t file;
    KEEL_TRY(keel_entry_encode_parts(entry, &file));
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_buffer_append(&buffer, file.head.data, file.head.size);
    keel_buffer_append(&buffer, file.stored.data, file.stored.size);
    keel_entry_file_release(&file);
    keel_status_t status = keel_buffer_take(&buffer, out, out_size);
    keel_buffer_deinitialize(&buffer);
    return status;
}

// ---- decode ------------------------------------------------------------------------------------

static keel_status_t damaged_entry(const char *what) {
    return keel_status_make(KEEL_CORRUPT, "the entry is damaged: %s", what);
}

keel_digest_t keel_entry_header_digest(const uint8_t *file, size_t header) {
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, file, AT_HEADER_DIGEST);
    keel_hasher_update(&hasher, file + AT_PAYLOAD_DIGEST, header - AT_PAYLOAD_DIGEST);
    return keel_hasher_finish(&hasher);
}

// The sizes in the envelope, if they agree with the file's.
static keel_status_t read_sizes(keel_bytes_t head, uint64_t file_size, size_t *out_header) {
    if (file_size == 0) return damaged_entry("it is empty");
    if (file_size < KEEL_ENTRY_ENVELOPE) return damaged_entry("it is truncated");
    if (memcmp(head.data, magic, sizeof magic))
        return damaged_entry("it does not start like an entry");
    uint64_t header = keel_load_u64(head.data + AT_HEADER_SIZE);
    uint64_t stored = keel_load_u64(head.data + AT_STORED_SIZE);
    if (header < KEEL_ENTRY_ENVELOPE || header > KEEL_ENTRY_HEADER_LIMIT || header > file_size)
        return damaged_entry("the size of its header is impossible");
    if (stored != file_size - header) return damaged_entry("its size differs from the stated one");
    *out_header = (size_t)header;
    return NULL;
}

static keel_status_t check_version(const uint8_t *file) {
    uint32_t version = keel_load_u32(file + AT_VERSION);
    uint32_t oldest_reader = keel_load_u32(file + AT_OLDEST_READER);
    if (oldest_reader <= KEEL_ENTRY_VERSION && version >= KEEL_ENTRY_OLDEST) return NULL;
    return keel_status_make(
        KEEL_UNSUPPORTED,
        "the entry has version %u and needs a reader of version %u or later; this Keel "
        "reads versions %d to %d",
        version, oldest_reader, KEEL_ENTRY_OLDEST, KEEL_ENTRY_VERSION);
}

typedef struct fields_t {
    keel_bytes_t values[TAG_END];
    bool seen[TAG_END];
} fields_t;

static keel_status_t split_fields(keel_bytes_t bytes, fields_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    while (keel_cursor_left(&cursor)) {
        uint32_t tag = keel_cursor_u32(&cursor);
        keel_bytes_t value = keel_cursor_take(&cursor, keel_cursor_u32(&cursor));
        if (cursor.failed) return damaged_entry("its fields do not end at the end of its header");
        if (tag >= TAG_END || !field_names[tag]) continue;
        if (out->seen[tag]) return damaged_entry("a field occurs twice");
        if (field_sizes[tag] && value.size != field_sizes[tag])
            return damaged_entry("a field has the wrong size");
        out->seen[tag] = true;
        out->values[tag] = value;
    }
    for (int tag = 0; tag < TAG_END; ++tag)
        if (field_names[tag] && !out->seen[tag] && !IS_OPTIONAL(tag))
            return keel_status_make(KEEL_CORRUPT, "the entry is damaged: it lacks the field %s",
                                    field_names[tag]);
    return NULL;
}

static keel_status_t take_text(keel_bytes_t bytes, char **out) {
    if (bytes.size && memchr(bytes.data, 0, bytes.size))
        return damaged_entry("a text contains a zero byte");
    return keel_strdup(keel_bytes_str(bytes), out);
}

static double take_seconds(keel_bytes_t bytes) {
    double seconds;
    uint64_t bits = keel_load_u64(bytes.data);
    memcpy(&seconds, &bits, sizeof seconds);
    return seconds;
}

static keel_status_t take_fields(const fields_t *fields, keel_entry_t *entry) {
    memcpy(entry->key.bytes, fields->values[TAG_KEY].data, KEEL_DIGEST_SIZE);
    memcpy(entry->program.bytes, fields->values[TAG_PROGRAM].data, KEEL_DIGEST_SIZE);
    entry->created = keel_load_u64(fields->values[TAG_CREATED].data);
    entry->compile_seconds = take_seconds(fields->values[TAG_COMPILE_SECONDS]);
    entry->is_signed = fields->seen[TAG_SIGNATURE];
    if (fields->seen[TAG_LOAD_SECONDS])
        entry->load_seconds = take_seconds(fields->values[TAG_LOAD_SECONDS]);
    entry->payload_size = (size_t)keel_load_u64(fields->values[TAG_PAYLOAD_SIZE].data);
    KEEL_TRY(take_text(fields->values[TAG_COMPONENTS], &entry->components));
    KEEL_TRY(take_text(fields->values[TAG_NAME], &entry->name));
    return take_text(fields->values[TAG_WRITER], &entry->writer);
}

// Trusts nothing until the header's digest is verified. *out_codec is not checked yet.
static keel_status_t read_header(keel_bytes_t head, uint64_t file_size, keel_entry_t *entry,
                                 size_t *out_header, uint32_t *out_codec, size_t *out_needed) {
    *out_needed = 0;
    if (head.size < KEEL_ENTRY_ENVELOPE && head.size < file_size) {
        *out_needed = KEEL_ENTRY_ENVELOPE;
        return NULL;
    }
    size_t header = 0;
    KEEL_TRY(read_sizes(head, file_size, &header));
    if (head.size < header) {
        *out_needed = header;
        return NULL;
    }
    keel_digest_t digest = keel_entry_header_digest(head.data, header);
    if (memcmp(digest.bytes, head.data + AT_HEADER_DIGEST, KEEL_DIGEST_SIZE))
        return damaged_entry("the digest of its header is wrong");
    KEEL_TRY(check_version(head.data));
    fields_t fields = {0};
    keel_bytes_t bytes = keel_bytes(head.data + KEEL_ENTRY_ENVELOPE, header - KEEL_ENTRY_ENVELOPE);
    KEEL_TRY(split_fields(bytes, &fields));
    KEEL_TRY(take_fields(&fields, entry));
    if (entry->payload_size > KEEL_ENTRY_PAYLOAD_LIMIT)
        return damaged_entry("its payload is impossibly large");
    entry->needs_version_2 = keel_load_u32(head.data + AT_OLDEST_READER) >= 2;
    *out_header = header;
    *out_codec = keel_load_u32(fields.values[TAG_CODEC].data);
    return NULL;
}

static keel_status_t unpack(keel_bytes_t stored, size_t size, uint8_t *out) {
    size_t got = ZSTD_decompress(out, size, stored.data, stored.size);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        return keel_status_make(KEEL_NO_MEMORY, "out of memory: unpacking an entry");
    return ZSTD_isError(got) || got != size ? damaged_entry("its payload cannot be unpacked")
                                            : NULL;
}

// `file`: what holds the stored bytes; NULL: they are copied.
static keel_status_t read_payload(keel_bytes_t stored, uint32_t codec, keel_shared_t *file,
                                  keel_entry_t *entry) {
    size_t size = entry->payload_size;
    if (codec == KEEL_CODEC_RAW) {
        if (stored.size != size) return damaged_entry("its payload has the wrong size");
        if (!file) return keel_bytes_dup(stored, &entry->payload);
        entry->shared = keel_shared_retain(file);
        entry->payload = (uint8_t *)(uintptr_t)stored.data;
        return NULL;
    }
    if (codec != KEEL_CODEC_ZSTD)
        return keel_status_make(KEEL_UNSUPPORTED, "the entry's payload is in the unknown codec %u",
                                codec);
    // No frame unpacks to more than this, so a false size cannot cause a huge allocation.
    if (size / ZSTD_HIGHEST_RATIO > stored.size ||
        ZSTD_getFrameContentSize(stored.data, stored.size) != size)
        return damaged_entry("its payload has the wrong size");
    void *payload;
    KEEL_TRY(keel_alloc(size, &payload));
    entry->payload = payload;
    KEEL_TRY(unpack(stored, size, payload));
    if (!file) return NULL;
    entry->payload = NULL;
    KEEL_TRY(keel_shared_take(payload, size, &entry->shared));
    entry->payload = payload;
    return NULL;
}

static keel_status_t decode(keel_bytes_t file, keel_shared_t *shared, keel_entry_t *entry) {
    size_t header, needed;
    uint32_t codec;
    KEEL_TRY(read_header(file, file.size, entry, &header, &codec, &needed));
    if (needed) return damaged_entry("it is truncated");
    keel_bytes_t stored = keel_bytes(file.data + header, file.size - header);
    keel_digest_t digest = payload_digest(keel_load_u32(file.data + AT_OLDEST_READER), stored);
    if (memcmp(digest.bytes, file.data + AT_PAYLOAD_DIGEST, KEEL_DIGEST_SIZE))
        return damaged_entry("the digest of its payload is wrong");
    return read_payload(stored, codec, shared, entry);
}

static keel_status_t decode_any(keel_bytes_t file, keel_shared_t *shared, keel_entry_t *out) {
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    keel_status_t status = decode(file, shared, &entry);
    if (status) {
        keel_entry_deinitialize(&entry);
        return status;
    }
    *out = entry;
    return NULL;
}

keel_status_t keel_entry_decode(keel_bytes_t file, keel_entry_t *out) {
    return decode_any(file, NULL, out);
}

keel_status_t keel_entry_decode_shared(keel_shared_t *file, keel_entry_t *out) {
    return decode_any(keel_shared_bytes(file), file, out);
}

keel_status_t keel_entry_decode_header(keel_bytes_t head, uint64_t file_size, keel_entry_t *out,
                                       size_t *out_needed) {
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    size_t header = 0;
    uint32_t codec;
    keel_status_t status = read_header(head, file_size, &entry, &header, &codec, out_needed);
    if (status || *out_needed) {
        keel_entry_deinitialize(&entry);
        return status;
    }
    *out = entry;
    return NULL;
}
