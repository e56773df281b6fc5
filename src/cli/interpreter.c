// The Python that will run a command.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "pjrt/pjrt.h"
#include "probe/guard.h"

static bool on_path(const char *program, char out[PATH_MAX]) {
    if (strchr(program, '/')) {
        size_t length = strlen(program);
        if (length >= PATH_MAX) return false;
        memcpy(out, program, length + 1);
        return keel_is_file(out);
    }
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        size_t size = length + strlen(program) + 2;
        if (length && size <= PATH_MAX) {
            memcpy(out, folders, length);
            out[length] = '/';
            memcpy(out + length + 1, program, strlen(program) + 1);
            if (access(out, X_OK) == 0 && keel_is_file(out)) return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool is_python(const char *path) {
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "python", 6) == 0;
}

// The beginning of a file that names its interpreter, zero-terminated.
static bool read_script(const char *path, char *head, size_t size) {
    size_t got = 0;
    keel_file_facts_t facts;
    keel_status_t status = keel_file_read_head(path, (uint8_t *)head, size - 1, &got, &facts);
    keel_status_ignore(status);
    head[status ? 0 : got] = 0;
    return strncmp(head, "#!", 2) == 0;
}

// The next word of a line, zero-terminated in place; "" at its end.
static char *next_word(char **line) {
    char *word = *line + strspn(*line, " \t");
    *line = word + strcspn(word, " \t\r\n");
    if (**line == ' ' || **line == '\t')
        *(*line)++ = 0;
    else
        **line = 0;
    return word;
}

// The interpreter of "#!/venv/bin/python -u", or of "#!/usr/bin/env [-S] python3", if it is a
// Python. `line` is zero-terminated and is modified.
static bool script_python(char *line, char out[PATH_MAX]) {
    char *rest = line + 2, *word = next_word(&rest);
    if (*word != '/') return false;
    if (strcmp(strrchr(word, '/'), "/env") == 0) {
        word = next_word(&rest);
        if (strcmp(word, "-S") == 0) word = next_word(&rest);
    }
    return is_python(word) && on_path(word, out);
}

// ---- a version manager's Python ----------------------------------------------------------------

enum { ANSWER_SECONDS = 10 };

// One line; false if it does not come in time.
static bool read_answer(int descriptor, char out[PATH_MAX]) {
    keel_buffer_t answer;
    keel_buffer_initialize(&answer, PATH_MAX - 1);
    uint64_t end = keel_clock_monotonic() + ANSWER_SECONDS * 1000000000ull;
    bool in_time = keel_answer_read(descriptor, '\n', end, &answer);
    snprintf(out, PATH_MAX, "%s", answer.failed ? "" : keel_buffer_cstr(&answer));
    out[strcspn(out, "\n")] = 0;
    keel_buffer_deinitialize(&answer);
    return in_time;
}

// What the script answers when asked which Python it starts; false if there is no answer. The
// script and what it started are ended after the answer, or when the time is up.
static bool ask(const char *script, char out[PATH_MAX], bool *out_in_time) {
    static char option[] = "-c", question[] = "import sys; print(sys.executable)";
    char *words[] = {(char *)(uintptr_t)script, option, question, NULL};
    int answer[2];
    keel_guard_t guard;
    *out_in_time = true;
    out[0] = 0;
    if (pipe2(answer, O_CLOEXEC)) return false;
    keel_guard_begin(&guard);
    pid_t pid = keel_answer_start(words, answer[1]);
    keel_guard_watch(pid);
    close(answer[1]);
    if (pid) *out_in_time = read_answer(answer[0], out);
    close(answer[0]);
    if (pid) {
        keel_guard_kill(pid);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    keel_guard_end(&guard);
    return *out == '/' && keel_is_file(out);
}

static bool is_in_environment(const char *python) {
    char *config;
    const char *slash = strrchr(python, '/');
    keel_status_t status =
        keel_path(&config, "%.*s/../pyvenv.cfg", slash ? (int)(slash - python) : 0, python);
    bool yes = !status && keel_is_file(config);
    if (!status) keel_free(config);
    keel_status_ignore(status);
    return yes;
}

// A version manager (pyenv, asdf) puts scripts in the path that start the chosen Python: their
// place says nothing about its packages.
static keel_status_t settle(const char *python, char **out) {
    char head[4], answer[PATH_MAX];
    bool in_time = true, asked = read_script(python, head, sizeof head) &&
                                 !is_in_environment(python) && ask(python, answer, &in_time);
    if (!in_time)
        cli_say("%s did not say within %d s which Python it starts; Keel uses it as given", python,
                ANSWER_SECONDS);
    return keel_strdup(keel_str(asked ? answer : python), out);
}

// By its name or what its links lead to; a script may start anything.
static bool looks_like_python(const char *path) {
    char head[4], resolved[PATH_MAX];
    if (is_in_environment(path)) return true;
    if (read_script(path, head, sizeof head)) return false;
    return is_python(path) || (realpath(path, resolved) && is_python(resolved));
}

// ---- which it is -------------------------------------------------------------------------------

keel_status_t cli_interpreter_of(const char *command, char **out) {
    char path[PATH_MAX], python[PATH_MAX], head[1024];
    *out = NULL;
    if (!on_path(command, path)) return NULL;
    if (is_python(command)) return settle(path, out);
    bool found = read_script(path, head, sizeof head) && script_python(head, python);
    return found ? settle(python, out) : NULL;
}

keel_status_t cli_interpreter_named(const char *path, char **out) {
    char answer[PATH_MAX];
    bool in_time = true;
    cli_limit_at(path);
    bool is_one = looks_like_python(path);
    cli_limit_at(NULL);
    if (is_one) return keel_strdup(keel_str(path), out);
    if (ask(path, answer, &in_time)) return keel_strdup(keel_str(answer), out);
    char within[32] = "";
    if (!in_time) snprintf(within, sizeof within, " within %d s", ANSWER_SECONDS);
    return keel_status_make(KEEL_INVALID,
                            "--python %s: not a Python: it did not say%s which one it is; give one "
                            "such as /venv/bin/python",
                            path, within);
}

keel_status_t cli_interpreter(char **out) {
    char *python;
    *out = NULL;
    KEEL_TRY(keel_python_find(NULL, &python));
    if (!python) return NULL;
    keel_status_t status = settle(python, out);
    keel_free(python);
    return status;
}
