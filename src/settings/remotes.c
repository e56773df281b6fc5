#include "settings/remotes.h"

#include <stdio.h>
#include <stdlib.h>

#include "settings/shown.h"

static const uint64_t usual_timeout = 5000000000u, longest_timeout = 3600000000000u;

static keel_status_t wrong(keel_str_t remote, const char *what) {
    keel_shown_t shown;
    return keel_status_make(KEEL_INVALID, "'%s' %s", keel_setting_show(remote, &shown), what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Takes the part before `at` (or the rest) off `rest`. False if there is nothing more.
static bool take(keel_str_t *rest, char at, keel_str_t *out) {
    if (!rest->data) return false;
    const char *found = rest->size ? memchr(rest->data, at, rest->size) : NULL;
    *out = (keel_str_t){rest->data, found ? (size_t)(found - rest->data) : rest->size};
    *rest = found ? (keel_str_t){found + 1, rest->size - out->size - 1} : (keel_str_t){NULL, 0};
    return true;
}

static bool copy(keel_str_t text, char *out, size_t size) {
    if (!text.size || text.size >= size) return false;
    for (size_t i = 0; i < text.size; ++i)
        if ((unsigned char)text.data[i] <= 0x20 || text.data[i] == 0x7f) return false;
    memcpy(out, text.data, text.size);
    out[text.size] = 0;
    return true;
}

// "500ms", "5s".
static bool read_time(keel_str_t text, uint64_t *out) {
    uint64_t number = 0, unit = 0;
    size_t digits = 0;
    while (digits < text.size && digits < 7 && keel_is_digit(text.data[digits]))
        number = number * 10 + (uint64_t)(text.data[digits++] - '0');
    const keel_str_t rest = {text.data + digits, text.size - digits};
    if (keel_str_is(rest, "ms")) unit = 1000000;
    if (keel_str_is(rest, "s")) unit = 1000000000;
    *out = number * unit;
    return digits && unit && *out && *out <= longest_timeout;
}

// The name of a folder below the remote: no way out of it, nothing that a URL would need escaped.
static bool read_space(keel_str_t text, char *out, size_t size) {
    if (!copy(text, out, size) || strstr(out, "..") || *out == '/' || out[text.size - 1] == '/')
        return false;
    for (const char *c = out; *c; ++c)
        if (!keel_is_of_name(*c) && !strchr("-./", *c)) return false;
    return true;
}

static keel_status_t read_timeout(keel_str_t remote, keel_str_t value, keel_remote_t *out) {
    if (read_time(value, &out->timeout)) return NULL;
    return wrong(remote, "has a timeout that is not a time from 1ms to 3600s, such as 500ms");
}

static keel_status_t read_namespace(keel_str_t remote, keel_str_t value, keel_remote_t *out) {
    if (read_space(value, out->space, sizeof out->space)) return NULL;
    return wrong(remote, "has a namespace with strange characters; use letters, digits and -_./");
}

static keel_status_t read_ca(keel_str_t remote, keel_str_t value, keel_remote_t *out) {
    if (copy(value, out->ca, sizeof out->ca) && *out->ca == '/') return NULL;
    return wrong(remote, "has no absolute path behind ca=");
}

static keel_status_t read_endpoint(keel_str_t remote, keel_str_t value, keel_remote_t *out) {
    bool is_http =
        keel_str_starts(value, KEEL_STR("http://")) || keel_str_starts(value, KEEL_STR("https://"));
    while (value.size && value.data[value.size - 1] == '/')
        --value.size;
    if (out->scheme != KEEL_REMOTE_S3) return wrong(remote, "has an endpoint=, but is no s3://");
    if (is_http && copy(value, out->endpoint, sizeof out->endpoint) &&
        !strpbrk(out->endpoint, "@?#"))
        return NULL;
    return wrong(remote, "has an endpoint that is no http:// or https:// address of a server");
}

static keel_status_t read_region(keel_str_t remote, keel_str_t value, keel_remote_t *out) {
    if (out->scheme != KEEL_REMOTE_S3) return wrong(remote, "has a region=, but is no s3://");
    bool is_good = copy(value, out->region, sizeof out->region);
    for (const char *c = out->region; is_good && *c; ++c)
        is_good = keel_is_of_name(*c) || *c == '-';
    return is_good ? NULL : wrong(remote, "has a region that is none, such as eu-west-1");
}

static keel_status_t read_word(keel_str_t remote, keel_str_t word, keel_remote_t *out) {
    static const struct {
        keel_str_t key;
        keel_status_t (*read)(keel_str_t remote, keel_str_t value, keel_remote_t *out);
    } words[] = {{{"timeout=", 8}, read_timeout},
                 {{"namespace=", 10}, read_namespace},
                 {{"ca=", 3}, read_ca},
                 {{"endpoint=", 9}, read_endpoint},
                 {{"region=", 7}, read_region}};
    if (keel_str_is(word, "read")) return NULL;
    out->writes = out->writes || keel_str_is(word, "read-write");
    out->trusted = out->trusted || keel_str_is(word, "trusted");
    if (keel_str_is(word, "read-write") || keel_str_is(word, "trusted")) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        const keel_str_t *key = &words[i].key;
        if (keel_str_starts(word, *key))
            return words[i].read(remote, (keel_str_t){word.data + key->size, word.size - key->size},
                                 out);
    }
    return wrong(remote, "has an unknown word after its |; use read, read-write, trusted, "
                         "timeout=5s, namespace=NAME, ca=FILE, endpoint=URL or region=NAME");
}

static keel_status_t read_file(keel_str_t remote, keel_remote_t *out) {
    return out->url[7] == '/' ? NULL : wrong(remote, "has no absolute path; write file:///folder");
}

static keel_status_t read_http(keel_str_t remote, keel_remote_t *out) {
    const char *host = strstr(out->url, "://") + 3;
    size_t length = strcspn(host, "/");
    if (!length) return wrong(remote, "has no host");
    if (memchr(host, '@', length))
        return wrong(remote, "has a user or a password, which would be shown; put it in ~/.netrc");
    if (strpbrk(host, "?#")) return wrong(remote, "has a ? or a #, which no remote has");
    return NULL;
}

// The parser knows the address without TLS.
static keel_status_t read_redis(keel_str_t remote, keel_remote_t *out) {
    char plain[sizeof out->url + 8];
    snprintf(plain, sizeof plain, KEEL_REDIS_SCHEME "%s", strstr(out->url, "://") + 3);
    const char *why = keel_redis_address_parse(plain, &out->redis);
    if (!why && *out->redis.job) why = "has a ?job=, which no remote has";
    return why ? wrong(remote, why) : NULL;
}

// Names of buckets are those of hosts; below them, those of folders.
static keel_status_t read_s3(keel_str_t remote, keel_remote_t *out) {
    char place[sizeof out->url];
    const char *bucket = strstr(out->url, "://") + 3;
    size_t length = strcspn(bucket, "/");
    if (!length) return wrong(remote, "has no bucket; write s3://bucket/prefix");
    if (memchr(bucket, '_', length) || !read_space(keel_str(bucket), place, sizeof place))
        return wrong(remote, "has strange characters; use letters, digits and -./");
    return NULL;
}

static keel_status_t read_url(keel_str_t remote, keel_str_t url, keel_remote_t *out) {
    static const struct {
        keel_str_t prefix;
        keel_remote_scheme_t scheme;
        bool is_secure;
        keel_status_t (*read)(keel_str_t remote, keel_remote_t *out);
    } schemes[] = {{{"file://", 7}, KEEL_REMOTE_FILE, false, read_file},
                   {{"http://", 7}, KEEL_REMOTE_HTTP, false, read_http},
                   {{"https://", 8}, KEEL_REMOTE_HTTP, true, read_http},
                   {{"redis://", 8}, KEEL_REMOTE_REDIS, false, read_redis},
                   {{"rediss://", 9}, KEEL_REMOTE_REDIS, true, read_redis},
                   {{"s3://", 5}, KEEL_REMOTE_S3, true, read_s3}};
    while (url.size > 8 && url.data[url.size - 1] == '/')
        --url.size;
    if (!copy(url, out->url, sizeof out->url)) return wrong(remote, "is too long or empty");
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        if (!keel_str_starts(url, schemes[i].prefix)) continue;
        out->scheme = schemes[i].scheme;
        out->is_secure = schemes[i].is_secure;
        return schemes[i].read(remote, out);
    }
    return wrong(remote, "is no remote; one begins with file://, http://, https://, redis://, "
                         "rediss:// or s3://");
}

static keel_status_t read_remote(keel_str_t text, keel_remote_t *out) {
    keel_str_t rest = text, word;
    *out = (keel_remote_t){.timeout = usual_timeout};
    if (take(&rest, '|', &word)) KEEL_TRY(read_url(word, word, out));
    const keel_str_t url = word;
    while (take(&rest, '|', &word))
        KEEL_TRY(read_word(url, word, out));
    return NULL;
}

keel_status_t keel_remotes_parse(const char *text, keel_remotes_t *out) {
    *out = (keel_remotes_t){0};
    if (strcmp(text, "none") == 0) return NULL;
    for (const char *at = text; *at;) {
        while (is_blank(*at))
            ++at;
        size_t size = strcspn(at, " \t");
        if (!size) break;
        if (out->count == KEEL_REMOTES_MOST)
            return keel_status_make(KEEL_INVALID, "more than %d remotes", KEEL_REMOTES_MOST);
        KEEL_TRY(read_remote((keel_str_t){at, size}, &out->list[out->count]));
        ++out->count;
        at += size;
    }
    return NULL;
}
