#define _GNU_SOURCE
#include "courier/aws.h"

#ifdef KEEL_HAS_CURL

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FILE_SIZE = 1 << 20, ANSWER = 16 << 10, WITHIN = 2000 }; // milliseconds

static bool copy(keel_str_t text, char *out, size_t size) {
    if (!text.size || text.size >= size) return false;
    memcpy(out, text.data, text.size);
    out[text.size] = 0;
    return true;
}

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

// ---- what is read ------------------------------------------------------------------------------

uint64_t aws_read_time(keel_str_t text) {
    char copied[40];
    struct tm tm = {.tm_isdst = 0};
    if (!copy(text, copied, sizeof copied)) return 0;
    const char *rest = strptime(copied, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest || (*rest != 'Z' && *rest != '.')) return 0;
    time_t seconds = timegm(&tm);
    return seconds > 0 ? (uint64_t)seconds * 1000000000u : 0;
}

static keel_str_t trimmed(keel_str_t text) {
    while (text.size && strchr(" \t\r", text.data[0]))
        text = (keel_str_t){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r", text.data[text.size - 1]))
        --text.size;
    return text;
}

static void take_setting(keel_str_t line, aws_keys_t *out) {
    const char *equals = line.size ? memchr(line.data, '=', line.size) : NULL;
    if (!equals) return;
    size_t size = (size_t)(equals - line.data);
    const keel_str_t name = trimmed((keel_str_t){line.data, size});
    const keel_str_t value = trimmed((keel_str_t){equals + 1, line.size - size - 1});
    if (keel_str_is(name, "aws_access_key_id")) copy(value, out->id, sizeof out->id);
    if (keel_str_is(name, "aws_secret_access_key")) copy(value, out->secret, sizeof out->secret);
    if (keel_str_is(name, "aws_session_token")) copy(value, out->token, sizeof out->token);
}

bool aws_read_profile(keel_str_t text, const char *profile, aws_keys_t *out) {
    keel_str_t line;
    bool is_in = false;
    *out = (aws_keys_t){.from = "~/.aws/credentials"};
    while (keel_str_line(&text, &line)) {
        line = trimmed(line);
        if (!line.size || *line.data == '#' || *line.data == ';') continue;
        if (*line.data == '[')
            is_in = line.size > 2 &&
                    keel_str_is(trimmed((keel_str_t){line.data + 1, line.size - 2}), profile);
        else if (is_in)
            take_setting(line, out);
    }
    return *out->id && *out->secret;
}

bool aws_read_answer(keel_str_t text, aws_keys_t *out) {
    const char *id = "", *secret = "", *token = "", *ends = "";
    *out = (aws_keys_t){.from = "this machine's role"};
    json_t *json = json_loadb(text.data, text.size, 0, NULL);
    bool is_read =
        json && !json_unpack(json, "{s:s, s:s, s?s, s?s}", "AccessKeyId", &id, "SecretAccessKey",
                             &secret, "Token", &token, "Expiration", &ends);
    is_read = is_read && copy(keel_str(id), out->id, sizeof out->id) &&
              copy(keel_str(secret), out->secret, sizeof out->secret) &&
              (!*token || copy(keel_str(token), out->token, sizeof out->token));
    if (is_read) out->ends = aws_read_time(keel_str(ends));
    json_decref(json);
    return is_read;
}

// ---- where it is from --------------------------------------------------------------------------

static bool find_in_environment(aws_keys_t *out) {
    *out = (aws_keys_t){.from = "AWS_ACCESS_KEY_ID"};
    const char *token = variable("AWS_SESSION_TOKEN");
    return copy(keel_str(variable("AWS_ACCESS_KEY_ID")), out->id, sizeof out->id) &&
           copy(keel_str(variable("AWS_SECRET_ACCESS_KEY")), out->secret, sizeof out->secret) &&
           (!*token || copy(keel_str(token), out->token, sizeof out->token));
}

static bool find_in_file(aws_keys_t *out) {
    const char *named = variable("AWS_SHARED_CREDENTIALS_FILE"), *home = variable("HOME");
    const char *profile = variable("AWS_PROFILE");
    char *path;
    uint8_t *text = NULL;
    size_t size = 0;
    if (!*named && !*home) return false;
    keel_status_t status =
        keel_path(&path, "%s%s", *named ? named : home, *named ? "" : "/.aws/credentials");
    if (!status) {
        status = keel_file_read(path, FILE_SIZE, &text, &size);
        keel_free(path);
    }
    bool found = !status && aws_read_profile((keel_str_t){(const char *)text, size},
                                             *profile ? profile : "default", out);
    keel_status_ignore(status);
    keel_free(text);
    return found;
}

static size_t take(char *data, size_t one, size_t size, void *context) {
    keel_buffer_append(context, data, one * size);
    return ((keel_buffer_t *)context)->failed ? 0 : one * size;
}

// Asks a service of this machine itself, so without a proxy. False unless it answers with 200.
static bool ask(const char *url, const char *method, const char *header, keel_buffer_t *out) {
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = *header ? curl_slist_append(NULL, header) : NULL;
    long code = 0;
    keel_buffer_deinitialize(out);
    if (!curl) return false;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)WITHIN);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    CURLcode result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return result == CURLE_OK && code == 200 && !out->failed;
}

static bool ask_keys(const char *url, const char *header, keel_buffer_t *room, aws_keys_t *out) {
    return ask(url, "GET", header, room) &&
           aws_read_answer(keel_bytes_str(keel_buffer_bytes(room)), out);
}

// As in a task of ECS or a pod of EKS.
static bool find_in_container(keel_buffer_t *room, aws_keys_t *out) {
    const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const char *file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    char url[1024], header[4200] = "";
    uint8_t *read = NULL;
    size_t size = 0;
    if (!*relative && !*full) return false;
    snprintf(url, sizeof url, "%s%s", *relative ? "http://169.254.170.2" : full, relative);
    if (*file) keel_status_ignore(keel_file_read(file, 4096, &read, &size));
    const keel_str_t text =
        read ? trimmed((keel_str_t){(const char *)read, size}) : keel_str(token);
    if (text.size)
        snprintf(header, sizeof header, "Authorization: %.*s",
                 (int)strcspn(text.data, "\n") < (int)text.size ? (int)strcspn(text.data, "\n")
                                                                : (int)text.size,
                 text.data);
    keel_free(read);
    return ask_keys(url, header, room, out);
}

// A machine of EC2: a token for a session, the role's name, its keys.
static bool find_in_metadata(keel_buffer_t *room, aws_keys_t *out) {
    const char *named = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char url[700], header[400], base[512];
    if (strcmp(variable("AWS_EC2_METADATA_DISABLED"), "true") == 0) return false;
    snprintf(base, sizeof base, "%s", *named ? named : "http://169.254.169.254");
    if (*base && base[strlen(base) - 1] == '/') base[strlen(base) - 1] = 0;
    snprintf(url, sizeof url, "%s/latest/api/token", base);
    if (!ask(url, "PUT", "X-aws-ec2-metadata-token-ttl-seconds: 300", room)) return false;
    snprintf(header, sizeof header, "X-aws-ec2-metadata-token: %.300s", keel_buffer_cstr(room));
    snprintf(url, sizeof url, "%s/latest/meta-data/iam/security-credentials/", base);
    if (!ask(url, "GET", header, room)) return false;
    const char *role = keel_buffer_cstr(room);
    snprintf(url, sizeof url, "%s/latest/meta-data/iam/security-credentials/%.*s", base,
             (int)strcspn(role, "\r\n"), role);
    return ask_keys(url, header, room, out);
}

keel_status_t aws_find_keys(aws_keys_t *out) {
    keel_buffer_t room;
    if (find_in_environment(out) || find_in_file(out)) return NULL;
    keel_buffer_initialize(&room, ANSWER);
    bool found = find_in_container(&room, out) || find_in_metadata(&room, out);
    keel_buffer_deinitialize(&room);
    if (found) return NULL;
    *out = (aws_keys_t){.from = ""};
    return keel_status_make(KEEL_NOT_FOUND, "no credentials");
}

#endif
