#include "settings/address.h"

enum { PORT = 6379, HIGHEST_PORT = 65535, DATABASE_DIGITS = 5 };

static bool is_of_text(char c) {
    return keel_is_of_name(c) || strchr("-.:", c);
}

// Copies a part whose characters are harmless in a message and in a key of Redis.
static bool copy(keel_str_t part, char *out, size_t size) {
    if (!part.size || part.size >= size) return false;
    for (size_t i = 0; i < part.size; ++i)
        if (!part.data[i] || !is_of_text(part.data[i])) return false;
    memcpy(out, part.data, part.size);
    out[part.size] = 0;
    return true;
}

static bool read_number(keel_str_t part, size_t digits, unsigned long highest, unsigned long *out) {
    if (!part.size || part.size > digits) return false;
    *out = 0;
    for (size_t i = 0; i < part.size; ++i) {
        if (!keel_is_digit(part.data[i])) return false;
        *out = *out * 10 + (unsigned long)(part.data[i] - '0');
    }
    return *out <= highest;
}

// Ends `text` before the first such character; *out is what follows it, "" if there is none.
static bool cut(keel_str_t *text, char at, keel_str_t *out) {
    const char *found = text->size ? memchr(text->data, at, text->size) : NULL;
    *out = (keel_str_t){text->data + text->size, 0};
    if (!found) return false;
    size_t size = (size_t)(found - text->data);
    *out = (keel_str_t){found + 1, text->size - size - 1};
    text->size = size;
    return true;
}

static const char *read_host(keel_str_t text, keel_redis_address_t *out) {
    static const char no_host[] = "has no host, or one with strange characters";
    keel_str_t host = text, port;
    bool has_port;
    if (host.size && *host.data == '[') { // IPv6
        keel_str_t rest;
        host = (keel_str_t){text.data + 1, text.size - 1};
        if (!cut(&host, ']', &rest)) return "has no ] after its host";
        has_port = cut(&rest, ':', &port);
        if (rest.size) return no_host;
    } else {
        has_port = cut(&host, ':', &port);
    }
    unsigned long number = PORT;
    if (!copy(host, out->host, sizeof out->host)) return no_host;
    if (has_port && (!read_number(port, 5, HIGHEST_PORT, &number) || !number))
        return "has a port that is not a number from 1 to 65535";
    out->port = (uint16_t)number;
    return NULL;
}

const char *keel_redis_address_parse(const char *text, keel_redis_address_t *out) {
    keel_str_t rest = keel_str(text), query, database, after;
    *out = (keel_redis_address_t){.port = PORT};
    if (!keel_str_starts(rest, KEEL_STR(KEEL_REDIS_SCHEME))) return "does not begin with redis://";
    rest.data += sizeof KEEL_REDIS_SCHEME - 1;
    rest.size -= sizeof KEEL_REDIS_SCHEME - 1;
    bool has_query = cut(&rest, '?', &query);
    cut(&rest, '/', &database);
    if (cut(&rest, '@', &after)) {
        if (memchr(rest.data, ':', rest.size))
            return "has a password, which would be shown; put it in REDISCLI_AUTH";
        if (!copy(rest, out->user, sizeof out->user)) return "has a strange user";
        rest = after;
    }
    unsigned long number = 0;
    if (database.size && !read_number(database, DATABASE_DIGITS, UINT16_MAX, &number))
        return "has a database that is not a number";
    out->database = (uint32_t)number;
    if (has_query &&
        (!keel_str_starts(query, KEEL_STR("job=")) ||
         !copy((keel_str_t){query.data + 4, query.size - 4}, out->job, sizeof out->job)))
        return "may end in ?job=NAME, with a name of letters, digits and -_.:";
    return read_host(rest, out);
}
