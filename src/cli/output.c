#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

static int exit_code(keel_code_t code) {
    switch (code) {
        case KEEL_OK:
            return CLI_OK;
        case KEEL_INVALID:
        case KEEL_NOT_FOUND:
        case KEEL_UNSUPPORTED:
        case KEEL_CORRUPT:
            return CLI_USAGE;
        default:
            return CLI_FAILURE;
    }
}

static void print_line(const char *text) {
    keel_str_t line = keel_str(text);
    size_t length;
    fputs("keel: ", stderr);
    for (size_t i = 0; i < line.size; i += length) {
        if (keel_utf8_shows(line, i, &length))
            fwrite(line.data + i, 1, length, stderr);
        else
            for (size_t k = i; k < i + length; ++k)
                fprintf(stderr, "\\x%02x", (unsigned char)line.data[k]);
    }
    fputc('\n', stderr);
}

void cli_say(const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_line(text);
}

int cli_fail(keel_status_t status) {
    int code = exit_code(keel_status_code(status));
    if (status) print_line(keel_status_message(status));
    keel_status_ignore(status);
    return code;
}

int cli_misuse(const cli_call_t *call, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_say("%s: %s; see `keel %s --help`", call->name, text, call->name);
    return CLI_USAGE;
}

int cli_answer(keel_buffer_t *buffer) {
    keel_status_t status = keel_buffer_status(buffer);
    if (!status) {
        bool ended = buffer->size && buffer->data[buffer->size - 1] == '\n';
        errno = 0;
        if (buffer->size && fwrite(buffer->data, 1, buffer->size, stdout) != buffer->size)
            status = keel_status_make(KEEL_IO, "standard output: %s", strerror(errno));
        else if ((!ended && buffer->size && putchar('\n') == EOF) || fflush(stdout))
            status = keel_status_make(KEEL_IO, "standard output: %s", strerror(errno));
    }
    keel_buffer_deinitialize(buffer);
    return cli_fail(status);
}

bool cli_is_colored(FILE *stream) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused && *refused) return false;
    return isatty(fileno(stream)) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

unsigned cli_width(FILE *stream) {
    enum { LEAST = 40, USUAL = 80 };
    struct winsize size;
    if (!isatty(fileno(stream))) return 0;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) || !size.ws_col) return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}
