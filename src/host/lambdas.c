// Which lambda of a source text an expression is in. Two lambdas on one line have one name and one
// line; only their columns differ.
#include <string.h>

#include "host/site.h"

enum { OPEN = 16 };

typedef struct scan_t {
    keel_str_t text;
    size_t at;
    size_t counted, line_begin; // up to `counted` the lines are counted
    uint32_t line, depth;       // of brackets
    struct {
        uint32_t number, depth;
        bool has_body; // its colon was read
    } open[OPEN];
    uint32_t open_count;
    lambdas_t *out;
} scan_t;

static bool is_among(char c, const char *three) {
    return memchr(three, c, 3);
}

static char ahead(const scan_t *scan, size_t by) {
    return by < scan->text.size - scan->at ? scan->text.data[scan->at + by] : '\0';
}

static lambda_point_t here(scan_t *scan) {
    for (; scan->counted < scan->at; ++scan->counted)
        if (scan->text.data[scan->counted] == '\n') {
            ++scan->line;
            scan->line_begin = scan->counted + 1;
        }
    return (lambda_point_t){scan->line, (uint32_t)(scan->at - scan->line_begin)};
}

static void skip_string(scan_t *scan) {
    char quote = ahead(scan, 0);
    bool is_triple = ahead(scan, 1) == quote && ahead(scan, 2) == quote;
    scan->at += is_triple ? 3 : 1;
    while (scan->at < scan->text.size) {
        char c = ahead(scan, 0);
        if (c == '\n' && !is_triple) return; // it was not closed
        if (c == quote && (!is_triple || (ahead(scan, 1) == c && ahead(scan, 2) == c))) {
            scan->at += is_triple ? 3 : 1;
            return;
        }
        scan->at += c == '\\' && scan->at + 1 < scan->text.size ? 2 : 1;
    }
}

// Which of the lambdas that began at this depth of brackets end; all those that began deeper do.
typedef enum ending_t { NONE_HERE, BODIES, ALL_HERE } ending_t;

static void end_lambdas(scan_t *scan, ending_t ending) {
    while (scan->open_count) {
        uint32_t last = scan->open_count - 1, depth = scan->open[last].depth;
        bool is_here = ending == ALL_HERE || (ending == BODIES && scan->open[last].has_body);
        if (depth < scan->depth || (depth == scan->depth && !is_here)) return;
        scan->out->list[scan->open[last].number].end = here(scan);
        --scan->open_count;
    }
}

// A second colon is not its own: it is in a dictionary, or after a default.
static void read_colon(scan_t *scan) {
    end_lambdas(scan, BODIES);
    if (scan->open_count && scan->open[scan->open_count - 1].depth == scan->depth)
        scan->open[scan->open_count - 1].has_body = true;
}

static bool begin_lambda(scan_t *scan, lambda_point_t begin) {
    lambdas_t *out = scan->out;
    if (out->count == SITE_LAMBDAS || scan->open_count == OPEN) return false;
    scan->open[scan->open_count].number = out->count;
    scan->open[scan->open_count].has_body = false;
    scan->open[scan->open_count++].depth = scan->depth;
    out->list[out->count].begin = begin;
    out->list[out->count++].end = (lambda_point_t){UINT32_MAX, 0};
    return true;
}

// False if there are too many lambdas.
static bool read_word(scan_t *scan) {
    keel_str_t word = {scan->text.data + scan->at, 0};
    while (keel_is_of_name(ahead(scan, word.size)))
        ++word.size;
    bool is_good = !keel_str_is(word, "lambda") || begin_lambda(scan, here(scan));
    if (keel_str_is(word, "for")) end_lambdas(scan, BODIES);
    scan->at += word.size;
    return is_good;
}

static void read_sign(scan_t *scan) {
    char c = ahead(scan, 0);
    if (is_among(c, "([{")) ++scan->depth;
    if (is_among(c, ")]}") && scan->depth) {
        --scan->depth;
        end_lambdas(scan, NONE_HERE);
    }
    if (c == ':' && ahead(scan, 1) != '=') read_colon(scan);
    if (c == ',') end_lambdas(scan, BODIES);
    if (c == ';' || (c == '\n' && !scan->depth)) end_lambdas(scan, ALL_HERE);
    ++scan->at;
}

void site_lambdas_of(keel_str_t text, lambdas_t *out) {
    scan_t scan = {.text = text, .line = 1, .out = out};
    out->count = 0;
    while (scan.at < text.size) {
        char c = ahead(&scan, 0);
        if (c == '\'' || c == '"')
            skip_string(&scan);
        else if (c == '#')
            while (scan.at < text.size && ahead(&scan, 0) != '\n')
                ++scan.at;
        else if (c == '\\')
            scan.at += scan.at + 1 < text.size ? 2 : 1; // the line goes on
        else if (!keel_is_of_name(c))
            read_sign(&scan);
        else if (!read_word(&scan)) {
            out->count = 0;
            return;
        }
    }
}

static bool is_before(lambda_point_t a, lambda_point_t b) {
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

uint32_t site_lambda_at(const lambdas_t *lambdas, uint32_t line, uint32_t column) {
    const lambda_point_t point = {line, column};
    uint32_t innermost = 0;
    // In the order in which they begin.
    for (uint32_t i = 0; i < lambdas->count && is_before(lambdas->list[i].begin, point); ++i)
        if (is_before(point, lambdas->list[i].end)) innermost = i + 1;
    return innermost;
}
