// A bucket of S3, or of what speaks its language: libcurl signs (AWS_SIGV4), the rest is http.
#define _GNU_SOURCE
#include "courier/http.h"

#ifndef KEEL_HAS_CURL

keel_status_t backend_s3(const keel_remote_t *remote, backend_t *out) {
    (void)remote;
    (void)out;
    return keel_status_make(KEEL_UNSUPPORTED, "this Keel was built without libcurl, which reaches "
                                              "S3; build it with libcurl");
}

#elif LIBCURL_VERSION_NUM < 0x075700

keel_status_t backend_s3(const keel_remote_t *remote, backend_t *out) {
    (void)remote;
    (void)out;
    return keel_status_make(KEEL_UNSUPPORTED, "this Keel was built with a libcurl before 7.87, "
                                              "which does not sign as S3 wants it");
}

#else

#include <stdio.h>
#include <stdlib.h>

#include "courier/aws.h"

enum { LISTED = 8 << 20 }; // bytes of an answer

static const uint64_t early = 300000000000u; // before keys end, others are asked for; nanoseconds

typedef struct s3_t {
    http_t *http;
    const char *prefix; // that names are below in the bucket, with a slash, or empty
    char prefixed[1024];
    char signs[128]; // how, for libcurl
    pthread_mutex_t lock;
    aws_keys_t keys; // no id: not looked for yet, or none
} s3_t;

// ---- signing -----------------------------------------------------------------------------------

static bool are_usable(const aws_keys_t *keys) {
    return *keys->id && (!keys->ends || keel_clock_wall() + early < keys->ends);
}

// A bucket that all may read needs none.
static keel_status_t keys_of(s3_t *s3, aws_keys_t *out) {
    pthread_mutex_lock(&s3->lock);
    keel_status_t status = are_usable(&s3->keys) ? NULL : aws_find_keys(&s3->keys);
    *out = s3->keys;
    pthread_mutex_unlock(&s3->lock);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static void forget_keys(s3_t *s3) {
    pthread_mutex_lock(&s3->lock);
    *s3->keys.id = 0;
    pthread_mutex_unlock(&s3->lock);
}

static keel_status_t sign(void *context, CURL *curl, struct curl_slist **headers) {
    s3_t *s3 = context;
    aws_keys_t keys;
    char header[sizeof keys.token + 32];
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    KEEL_TRY(keys_of(s3, &keys));
    if (!*keys.id) return NULL;
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, s3->signs);
    curl_easy_setopt(curl, CURLOPT_USERNAME, keys.id);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, keys.secret);
    if (!*keys.token) return NULL;
    snprintf(header, sizeof header, "x-amz-security-token: %s", keys.token);
    struct curl_slist *longer = curl_slist_append(*headers, header);
    if (!longer) return keel_status_make(KEEL_NO_MEMORY, "out of memory: curl");
    *headers = longer;
    return NULL;
}

// ---- errors ------------------------------------------------------------------------------------

// The text between two tags; false if it is not there.
static bool find_tag(keel_str_t text, const char *open, const char *close, keel_str_t *out) {
    const char *from = text.size ? memmem(text.data, text.size, open, strlen(open)) : NULL;
    if (!from) return false;
    from += strlen(open);
    size_t left = text.size - (size_t)(from - text.data);
    const char *to = memmem(from, left, close, strlen(close));
    if (!to) return false;
    *out = (keel_str_t){from, (size_t)(to - from)};
    return true;
}

static keel_status_t told(void *context, long code, const char *text) {
    static const struct {
        const char *code, *advice;
    } known[] = {
        {"RequestTimeTooSkewed", "this machine's clock is wrong; set it, as with NTP"},
        {"RequestExpired", "this machine's clock is wrong; set it, as with NTP"},
        {"ExpiredToken", "its credentials have expired; renew them"},
        {"TokenRefreshRequired", "its credentials have expired; renew them"},
        {"InvalidAccessKeyId", "it does not know the access key"},
        {"InvalidToken", "it does not know the session token"},
        {"SignatureDoesNotMatch", "the secret key is wrong"},
        {"AuthorizationHeaderMalformed", "it is in another region; add |region=REGION"},
        {"PermanentRedirect", "it is in another region; add |region=REGION"},
        {"TemporaryRedirect", "it is in another region; add |region=REGION"},
        {"NoSuchBucket", "there is no such bucket"},
    };
    s3_t *s3 = context;
    keel_str_t said;
    pthread_mutex_lock(&s3->lock);
    const char *from = *s3->keys.id ? s3->keys.from : "";
    pthread_mutex_unlock(&s3->lock);
    bool is_said = find_tag(keel_str(text), "<Code>", "</Code>", &said);
    for (size_t i = 0; is_said && i < sizeof known / sizeof *known; ++i) {
        if (!keel_str_is(said, known[i].code)) continue;
        forget_keys(s3); // others may be there by now
        return keel_status_make(KEEL_IO, "%s%s%s%s", known[i].advice, *from ? " (from " : "", from,
                                *from ? ")" : "");
    }
    if (code == 409) return keel_status_make(KEEL_INVALID, "another is storing it"); // conditional
    if (code == 301) return keel_status_make(KEEL_IO, "%s", known[8].advice);
    bool is_refused = code == 401 || code == 403 || (code == 400 && !*from); // without a signature
    if (!is_refused) return NULL;
    forget_keys(s3);
    if (*from)
        return keel_status_make(KEEL_IO, "it refuses access (%ld) to the credentials from %s", code,
                                from);
    return keel_status_make(KEEL_IO,
                            "it refuses access (%ld), and there are no credentials: set "
                            "AWS_ACCESS_KEY_ID, or write ~/.aws/credentials",
                            code);
}

// ---- the backend -------------------------------------------------------------------------------

static keel_status_t name_of(const s3_t *s3, const char *name, char **out) {
    return keel_path(out, "%s%s", s3->prefix, name);
}

static keel_status_t s3_get(void *context, const char *name, const sink_t *sink) {
    const s3_t *s3 = context;
    char *key;
    KEEL_TRY(name_of(s3, name, &key));
    keel_status_t status = http_get(s3->http, key, sink);
    keel_free(key);
    return status;
}

static keel_status_t s3_head(void *context, const char *name, facts_t *out) {
    const s3_t *s3 = context;
    char *key;
    KEEL_TRY(name_of(s3, name, &key));
    keel_status_t status = http_head(s3->http, key, out);
    keel_free(key);
    return status;
}

static keel_status_t s3_put(void *context, const char *name, put_t how, keel_bytes_t head,
                            keel_bytes_t rest) {
    const s3_t *s3 = context;
    char *key;
    KEEL_TRY(name_of(s3, name, &key));
    keel_status_t status = http_put(s3->http, key, how, head, rest);
    keel_free(key);
    return status;
}

static keel_status_t s3_remove(void *context, const char *name) {
    const s3_t *s3 = context;
    char *key;
    KEEL_TRY(name_of(s3, name, &key));
    keel_status_t status = http_remove(s3->http, key);
    keel_free(key);
    return status;
}

// ---- listing -----------------------------------------------------------------------------------

static bool take(void *context, const void *data, size_t size) {
    keel_buffer_t *buffer = context;
    keel_buffer_append(buffer, data, size);
    return !buffer->failed;
}

static bool is_whole(void *context) {
    return !((keel_buffer_t *)context)->failed;
}

// As a query wants it, and in it the order in which it is signed.
static void append_encoded(keel_buffer_t *out, keel_str_t text) {
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i];
        if (keel_is_of_name(c) || strchr("-.~", c))
            keel_buffer_byte(out, (uint8_t)c);
        else
            keel_buffer_format(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

static keel_status_t ask_part(const s3_t *s3, const char *below, keel_str_t token,
                              keel_buffer_t *out) {
    keel_buffer_t query;
    const sink_t sink = {out, take, is_whole, "a list is too long"};
    keel_buffer_initialize(&query, 0);
    keel_buffer_text(&query, "?");
    if (token.size) {
        keel_buffer_text(&query, "continuation-token=");
        append_encoded(&query, token);
        keel_buffer_text(&query, "&");
    }
    keel_buffer_text(&query, "list-type=2&max-keys=1000&prefix=");
    append_encoded(&query, keel_str(s3->prefix));
    append_encoded(&query, keel_str(below));
    keel_status_t status = keel_buffer_status(&query);
    if (!status) status = http_get(s3->http, keel_buffer_cstr(&query), &sink);
    keel_buffer_deinitialize(&query);
    return status;
}

static uint64_t read_number(keel_str_t text) {
    uint64_t number = 0;
    for (size_t i = 0; i < text.size && i < 15 && keel_is_digit(text.data[i]); ++i)
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    return number;
}

// Names of Keel's have nothing that XML would escape; others are none.
static keel_status_t visit_one(const s3_t *s3, keel_str_t object, visit_t visit, void *visitor) {
    keel_str_t key, size = {"", 0}, time = {"", 0};
    char name[1200];
    size_t skipped = strlen(s3->prefix);
    if (!find_tag(object, "<Key>", "</Key>", &key) || key.size >= sizeof name ||
        key.size <= skipped || memcmp(key.data, s3->prefix, skipped) != 0)
        return NULL;
    find_tag(object, "<Size>", "</Size>", &size);
    find_tag(object, "<LastModified>", "</LastModified>", &time);
    snprintf(name, sizeof name, "%.*s", (int)(key.size - skipped), key.data + skipped);
    uint64_t then = aws_read_time(time), now = keel_clock_wall();
    const facts_t facts = {read_number(size), !then ? AGE_UNKNOWN : now > then ? now - then : 0};
    return visit(visitor, name, &facts);
}

static keel_status_t visit_part(const s3_t *s3, keel_str_t part, visit_t visit, void *visitor) {
    static const char open[] = "<Contents>", close[] = "</Contents>";
    keel_str_t object;
    while (find_tag(part, open, close, &object)) {
        KEEL_TRY(visit_one(s3, object, visit, visitor));
        size_t used = (size_t)(object.data - part.data) + object.size;
        part = (keel_str_t){part.data + used, part.size - used};
    }
    return NULL;
}

static keel_status_t s3_list(void *context, const char *below, visit_t visit, void *visitor) {
    const s3_t *s3 = context;
    char token[2048] = "";
    keel_status_t status = NULL;
    do {
        keel_buffer_t part;
        keel_str_t next = {"", 0};
        keel_buffer_initialize(&part, LISTED);
        status = ask_part(s3, below, keel_str(token), &part);
        const keel_str_t text = keel_bytes_str(keel_buffer_bytes(&part));
        if (!status) status = visit_part(s3, text, visit, visitor);
        find_tag(text, "<NextContinuationToken>", "</NextContinuationToken>", &next);
        snprintf(token, sizeof token, "%.*s", (int)next.size, next.data);
        keel_buffer_deinitialize(&part);
    } while (!status && *token);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return keel_status_make(KEEL_IO, "there is no such bucket");
}

// ---- opening -----------------------------------------------------------------------------------

static const char *region_of(const keel_remote_t *remote) {
    const char *named = getenv("AWS_REGION"), *other = getenv("AWS_DEFAULT_REGION");
    if (*remote->region) return remote->region;
    if (named && *named) return named;
    return other && *other ? other : "us-east-1";
}

// Amazon's own buckets are hosts, unless a certificate would not be for them; those of others are
// folders.
static keel_status_t base_of(const keel_remote_t *remote, const char *region, char **out) {
    const char *bucket = remote->url + strlen("s3://");
    int size = (int)strcspn(bucket, "/");
    if (*remote->endpoint) return keel_path(out, "%s/%.*s", remote->endpoint, size, bucket);
    if (memchr(bucket, '.', (size_t)size))
        return keel_path(out, "https://s3.%s.amazonaws.com/%.*s", region, size, bucket);
    return keel_path(out, "https://%.*s.s3.%s.amazonaws.com", size, bucket, region);
}

static void s3_close(void *context) {
    s3_t *s3 = context;
    if (s3->http) http_close(s3->http);
    pthread_mutex_destroy(&s3->lock);
    keel_free(s3);
}

keel_status_t backend_s3(const keel_remote_t *remote, backend_t *out) {
    static const backend_kind_t kind = {.get = s3_get,
                                        .head = s3_head,
                                        .put = s3_put,
                                        .list = s3_list,
                                        .remove = s3_remove,
                                        .close = s3_close};
    const char *region = region_of(remote), *path = strchr(remote->url + strlen("s3://"), '/');
    void *memory;
    char *base;
    KEEL_TRY(keel_calloc(1, sizeof(s3_t), &memory));
    s3_t *s3 = memory;
    pthread_mutex_init(&s3->lock, NULL);
    s3->prefix = s3->prefixed;
    if (path) snprintf(s3->prefixed, sizeof s3->prefixed, "%s/", path + 1);
    snprintf(s3->signs, sizeof s3->signs, "aws:amz:%.64s:s3", region);
    keel_status_t status = base_of(remote, region, &base);
    if (!status) {
        status = http_create(remote, base, &s3->http);
        keel_free(base);
    }
    if (status) {
        s3_close(s3);
        return status;
    }
    s3->http->signer = (http_signer_t){.context = s3, .sign = sign, .told = told};
    *out = (backend_t){s3, &kind};
    return NULL;
}

#endif
