// Which lines of a source work on a number that the host read, and which functions return it: texts
// at the limits of each rule.
#define _GNU_SOURCE
#include "place.h"

#include "why/number.h"

typedef struct case_t {
    const char *text;
    uint32_t read, used;
    bool reaches;
    const char *subject, *callee; // NULL: "slice start", ""
} case_t;

static keel_source_t source_of(const char *text) {
    return (keel_source_t){.data = (uint8_t *)(uintptr_t)text, .size = strlen(text)};
}

static void check(const case_t *cases, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const case_t *one = &cases[i];
        keel_source_t source = source_of(one->text);
        keel_number_t from = {one->read, one->callee ? one->callee : ""};
        bool reaches = keel_number_reaches(&source, &from, one->used,
                                           one->subject ? one->subject : "slice start");
        if (reaches != one->reaches)
            fail_msg("%s\nline %u %s line %u", one->text, one->read,
                     reaches ? "reaches" : "does not reach", one->used);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

static void a_number_is_followed_by_the_names_it_is_assigned_to(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"n = int(t)\ny = x[n]\n", 1, 2, true, NULL, NULL},
        {"n = int(t)\ny = x[m]\n", 1, 2, false, NULL, NULL},
        {"n = int(t)\nnn = 1\ny = x[nn]\n", 1, 3, false, NULL, NULL},
        {"n = int(t)\ny = x[self.n]\n", 1, 2, false, NULL, NULL}, // an attribute is another name
        {"self.n = int(t)\ny = x[self.n]\n", 1, 2, true, NULL, NULL},
        {"self.n = int(t)\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n: int = int(t)\ny = x[n]\n", 1, 2, true, NULL, NULL},
        {"n: int = int(t)\ny = x[int]\n", 1, 2, false, NULL, NULL},
        {"n, m = ask(t)\ny = x[n]\n", 1, 2, true, NULL, NULL},
        {"n, m = ask(t)\ny = x[m]\n", 1, 2, true, NULL, NULL},
        {"(n, m) = ask(t)\ny = x[m]\n", 1, 2, true, NULL, NULL},
        {"rows[i] = int(t)\ny = x[rows]\n", 1, 2, true, NULL, NULL},
        {"rows[i] = int(t)\ny = x[i]\n", 1, 2, false, NULL, NULL}, // an index is read
        {"rows[i][j], k = ask(t)\ny = x[k]\n", 1, 2, true, NULL, NULL},
        {"for n in t.tolist():\n    y = x[n]\n", 1, 2, true, NULL, NULL},
        {"for n in t.tolist():\n    y = x[t]\n", 1, 2, false, NULL, NULL},
        {"fork in t.tolist()\ny = x[fork]\n", 1, 2, false, NULL, NULL},
        {"n == int(t)\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n <= int(t)\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n >= int(t)\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n != int(t)\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"f(n=int(t))\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n += int(t)\ny = x[n]\n", 1, 2, true, NULL, NULL},
        {"d['n=1'] = int(t)\ny = x[d]\n", 1, 2, false, NULL,
         NULL}, // a quote ends the search for names
        {"n = int(t) # n\ny = x[n] # n\n", 1, 2, true, NULL, NULL},
        {"m = int(t) # n = 1\ny = x[n]\n", 1, 2, false, NULL, NULL},
        {"n = int(t)", 1, 2, false, NULL, NULL},
        {"n = int(t)\n", 1, 9, false, NULL, NULL},
        {"", 1, 2, false, NULL, NULL},
    };
    CHECK(cases);
}

static void what_is_worked_out_from_it_is_followed_too(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"n = int(t)\nm = n + 1\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nm = k + 1\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = int(t)\nm = n\nk = m\ny = x[k]\n", 1, 4, true, NULL, NULL},
        {"n = int(t)\nm = f(n=2)\ny = x[m]\n", 1, 3, false, NULL,
         NULL}, // a keyword is not a use of it
        {"n = int(t)\nm = f(k=n)\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nm = f(n == 2)\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nm = 'n'\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = int(t)\nm = 'a\\'n'\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = int(t)\nm = \"'\" + n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nm = '' + n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nm += n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nn = 2\ny = x[n]\n", 1, 3, false, NULL, NULL},
        {"n = int(t)\nn += 2\ny = x[n]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nn[0] = 2\ny = x[n]\n", 1, 3, true, NULL, NULL},
        {"n = int(t)\nif k:\n    n = 2\ny = x[n]\n", 1, 4, true, NULL, NULL}, // maybe not assigned
        {"n = int(t)\nif k: n = 2\ny = x[n]\n", 1, 3, true, NULL, NULL},
        {"if k:\n    n = int(t)\nn = 2\ny = x[n]\n", 2, 4, false, NULL, NULL},
        {"n = int(t)\nm = n; n = 2\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n, m = ask(t)\nn = 2\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n, m = ask(t)\nn = 2\ny = x[n]\n", 1, 3, false, NULL, NULL},
        // What is computed from it and the tensor that it was read from is a tensor.
        {"n = t.item()\nm = t * n\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = t.item()\nm = t.size(0) * n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = t.item()\nm = len(t) * n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = t.item()\nm = [t, n]\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = t.item()\nm = t, n\ny = x[m]\n", 1, 3, true, NULL, NULL},
        {"n = t.item()\nm = (t, n)\ny = x[m]\n", 1, 3, false, NULL, NULL},
        {"n = t.item()\nm = u * n\ny = x[m]\n", 1, 3, true, NULL, NULL},
    };
    CHECK(cases);
}

static void a_subject_has_the_number_where_it_may_stand(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"n = int(t)\ny = x * n\n", 1, 2, false, NULL, NULL}, // of a slice, in brackets
        {"n = int(t)\ny = x * n\n", 1, 2, true, "multiply", NULL},
        {"n = int(t)\ny = f(n)\n", 1, 2, true, NULL, NULL},
        {"n = int(t)\ny = n, x[0]\n", 1, 2, false, NULL, NULL},
        {"n = int(t)\ny = x ** n\n", 1, 2, true, "power", NULL},
        {"n = int(t)\ny = n ** 2\n", 1, 2, false, "power", NULL},
        {"n = int(t)\ny = n * x.pow(2)\n", 1, 2, false, "power", NULL},
        {"n = int(t)\ny = x.pow(n)\n", 1, 2, true, "power", NULL},
        {"n = int(t)\ny = f(n)\n", 1, 2, true, "power", NULL},
        {"n = int(t)\nx[n] = y\n", 1, 2, false, NULL, NULL}, // left of the sign
        {"n = int(t)\nx[n] += y\n", 1, 2, true, NULL, NULL},
        {"n = int(t)\nm = n; y = x[m]\n", 1, 2, true, NULL, NULL},
        {"n = int(t)\nm = k; y = x[m]\n", 1, 2, false, NULL, NULL},
    };
    CHECK(cases);
}

static void one_line_may_read_and_use(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"y = x[:int(t)]\n", 1, 1, true, NULL, NULL},
        {"print(int(t)); y = x[3]\n", 1, 1, true, NULL, NULL}, // a call that takes it may have it
        {"n = int(t); y = x[n]\n", 1, 1, true, NULL, NULL},
        {"n = int(t); y = x[m]\n", 1, 1, false, NULL, NULL},
        {"n = int(t); m = n + 1; y = x[m]\n", 1, 1, true, NULL, NULL},
        {"n = int(t); y = x * 3\n", 1, 1, false, "multiply", NULL},
        {"n = int(t); y = x * n\n", 1, 1, true, "multiply", NULL},
        {"n = int(t); y = x + n\n", 1, 1, true, "add", NULL},
        {"n = int(t); y = x - n\n", 1, 1, true, "subtract", NULL},
        {"n = int(t); y = x / n\n", 1, 1, true, "divide", NULL},
        {"n = int(t); y = x ** n\n", 1, 1, true, "power", NULL},
        {"n = int(t); y = x - n\n", 1, 1, false, "add", NULL},
        {"n = int(t); y = f(n)\n", 1, 1, true, "add", NULL}, // a call may do anything
        {"n = int(t); y = n\n", 1, 1, true, "tanh", NULL},
        {"if int(t): y = x[3]\n", 1, 1, false, NULL, NULL},
        {"if int(t) > 2: y = x[3]\n", 1, 1, false, NULL, NULL},
        {"while k: y = x[int(t)]\n", 1, 1, true, NULL, NULL},
        {"else: y = x[int(t)]\n", 1, 1, true, NULL, NULL},
        {"d = {1: 2}; y = x[int(t)]\n", 1, 1, true, NULL, NULL},
        {"k = ':;'; y = x[int(t)]\n", 1, 1, true, NULL, NULL},
        {"k = 2; # y = x[int(t)]\n", 1, 1, true, NULL, NULL}, // one statement
        {"y = f(x, int(t))\n", 1, 1, true, "multiply", NULL},
        {"z = 2; y = f(x, int(t))\n", 1, 1, true, "multiply", NULL},
        {"z = 2; y = ask(t)\n", 1, 1, false, NULL, "Net.ask"},
        {"z = 2; y = x[ask(t)]\n", 1, 1, true, NULL, "Net.ask"},
        {"z = ask(t); y = x[2]\n", 1, 1, false, NULL, "Net.ask"},
        {"z = ask(t); y = x[z]\n", 1, 1, true, NULL, "ask"},
        {"z = tell(t); y = x[2]\n", 1, 1, true, NULL, "ask"}, // nothing names what reads
    };
    CHECK(cases);
}

static void a_number_stays_in_its_function(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"def f(t):\n    n = int(t)\n    return x[n]\n", 2, 3, true, NULL, NULL},
        {"def f(t):\n    n = int(t)\ndef g():\n    return x[n]\n", 2, 4, false, NULL, NULL},
        {"def f(t):\n    n = int(t)\ny = x[n]\n", 2, 3, false, NULL, NULL},
        {"async def f(t):\n    n = int(t)\ny = x[n]\n", 2, 3, false, NULL, NULL},
        {"async with f(t):\n    n = int(t)\ny = x[n]\n", 2, 3, true, NULL, NULL},
        {"if k:\n    n = int(t)\ny = x[n]\n", 2, 3, true, NULL, NULL},
        {"def f(t):\n    n = int(t)\n\n# no end\n    return x[n]\n", 2, 5, true, NULL, NULL},
        {"def f(t):\n    n = int(\n        t\n)\n    return x[n]\n", 2, 5, true, NULL, NULL},
        {"def f(t):\n    def g():\n        n = int(t)\n    return x[n]\n", 3, 4, false, NULL, NULL},
        {"def f(t):\n    def g():\n        return 1\n    n = int(t)\n    return x[n]\n", 4, 5, true,
         NULL, NULL},
        {"class A:\n    def f(t):\n        n = int(t)\n    def g():\n        y = x[n]\n", 3, 5,
         false, NULL, NULL},
        {"def f(t):\n\tn = int(t)\n\treturn x[n]\n", 2, 3, true, NULL, NULL},
        {"y = x[n]\nn = int(t)\n", 2, 1, false, NULL, NULL}, // above the read
    };
    CHECK(cases);
}

// As many lines as are followed, and one more.
static void a_number_is_followed_for_so_many_lines(void **state) {
    (void)state;
    enum { FOLLOWED = 64 };
    for (uint32_t between = FOLLOWED - 2; between <= FOLLOWED + 1; ++between) {
        char text[2048];
        size_t size = (size_t)snprintf(text, sizeof text, "n = int(t)\n");
        for (uint32_t i = 0; i < between; ++i)
            size += (size_t)snprintf(text + size, sizeof text - size, "k = 1\n");
        snprintf(text + size, sizeof text - size, "m = n\ny = x[m]\n");
        // The line before the last is one of those between.
        const case_t one = {text, 1, between + 3, between + 1 <= FOLLOWED, NULL, NULL};
        check(&one, 1);
    }
}

static void so_many_names_are_followed(void **state) {
    (void)state;
    enum { NAMES = 16 };
    for (int last = NAMES - 2; last <= NAMES; ++last) {
        char text[512] = "";
        size_t size = 0;
        for (int i = 0; i <= last; ++i)
            size += (size_t)snprintf(text + size, sizeof text - size, "%sn%d", i ? ", " : "", i);
        snprintf(text + size, sizeof text - size, " = ask(t)\ny = x[n%d]\n", last);
        const case_t one = {text, 1, 2, last < NAMES, NULL, NULL};
        check(&one, 1);
    }
}

static void a_function_returns_what_it_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line;
        bool returns;
        const char *function; // NULL: "f"
    } cases[] = {
        {"def f(t):\n    return int(t)\n", 2, true, NULL},
        {"def f(t):\n    yield int(t)\n", 2, true, NULL},
        {"def f(t):\n    print(int(t))\n", 2, false, NULL},
        {"def f(t):\n    returned(int(t))\n", 2, false, NULL},
        {"def f(t):\n    n = int(t)\n    return n\n", 2, true, NULL},
        {"def f(t):\n    n = int(t)\n    return m\n", 2, false, NULL},
        {"def f(t):\n    n = int(t)\n    m = n + 1\n    return m\n", 2, true, NULL},
        {"def f(t):\n    n = int(t)\n    return t * n\n", 2, false, NULL},
        {"def f(t):\n    return m\n    n = int(t)\n", 3, false, NULL},
        {"def f(t):\n    n = int(t)\ndef g():\n    return n\n", 2, false, NULL},
        {"n = int(t)\nreturn n\n", 1, false, NULL}, // in no function
        {"def f(t):\n    return (\n        int(t)\n    )\n", 3, true, NULL},
        {"def f(t):\n    return (k,\n        2); int(t)\n", 3, false, NULL},
        {"def f(t):\n    return [\n        k]\n    int(t)\n", 4, false, NULL},
        {"def f(t):\n    return '('\n    int(t)\n", 3, false, NULL},
        {"def f(t):\n    return t\n", 2, false, NULL}, // nothing there reads
        {"def f(t):\n    return t[0]\n", 2, true, NULL},
        {"def f(t):\n    return g(t)\n", 2, true, NULL},
        {"def f(t):\n    print(int(t)); return k(t)\n", 2, false, NULL},
        {"def f(t):\n    n = int(t); return n\n", 2, true, NULL},
        {"def f(t):\n    print(int(t))\n", 2, true, "f.<locals>.<lambda>"},
        {"def f(t):\n    print(int(t))\n", 2, true, "<listcomp>"},
        {"n = int(t)\n", 1, false, "<module>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_source_t source = source_of(cases[i].text);
        const char *function = cases[i].function ? cases[i].function : "f";
        bool returns = keel_number_is_returned(&source, cases[i].line, function);
        if (returns != cases[i].returns)
            fail_msg("%s\nline %u is %sreturned", cases[i].text, cases[i].line,
                     returns ? "" : "not ");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_followed_by_the_names_it_is_assigned_to),
        cmocka_unit_test(what_is_worked_out_from_it_is_followed_too),
        cmocka_unit_test(a_subject_has_the_number_where_it_may_stand),
        cmocka_unit_test(one_line_may_read_and_use),
        cmocka_unit_test(a_number_stays_in_its_function),
        cmocka_unit_test(a_number_is_followed_for_so_many_lines),
        cmocka_unit_test(so_many_names_are_followed),
        cmocka_unit_test(a_function_returns_what_it_read),
    };
    return cmocka_run_group_tests_name("why_number", tests, NULL, NULL);
}
