"""Small faults in C sources: where one can be planted, and the lists of those that are kept.

A list is a text file of records. A record says what goes wrong, then which file and which lines:

    === the entry used last is dropped, not the one used longest ago
    src/store/memory.c
    -    while (memory->oldest && memory->bytes > memory->limit - node->entry.payload_size)
    -        drop(memory, find(memory, &memory->oldest->entry.key));
    +    while (memory->oldest && memory->bytes > memory->limit - node->entry.payload_size)
    +        drop(memory, find(memory, &memory->newest->entry.key));

The lines must occur exactly once in the file; indentation does not count. A line `lane: thread`
below the file's name has the fault looked for by the thread sanitizer, `lane: address` by the
address sanitizer. Text before the first record is a comment.
"""

import collections
import re

# room: the folder of src; line: where it begins, from 1; was, now: text for people; text: the whole
# file with the fault in it, or None for a kept fault that no longer applies.
Fault = collections.namedtuple("Fault", "file room line was now text title lane")

# Statements that only a sanitizer can miss, and those that only speak.
QUIET_CALLS = re.compile(
    r"(keel_free|free|\w*_deinitialize|keel_status_ignore|keel_log\w*|pthread_mutex_(un)?lock|"
    r"pthread_(attr|cond|mutex)\w*_(init|destroy)|memset|va_(start|end))$")
SPEAKING = re.compile(r"\b(assert|static_assert|_Static_assert|KEEL_ASSERT|keel_log\w*)\s*\(")


# ---- where a fault can stand --------------------------------------------------------------------

def blank(text, spans):
    pieces = list(text)
    for begin, end in spans:
        for at in range(begin, end):
            if pieces[at] != "\n":
                pieces[at] = " "
    return "".join(pieces)


def closing(code, at):
    """The place of the parenthesis that closes the one at `at`; None if there is none."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return None


def bare(text):
    """The code alone: no comments, strings, preprocessor lines, assertions and messages."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
    code = blank(text, [match.span() for match in pattern.finditer(text)])
    code = blank(code, [match.span() for match in
                        re.finditer(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", code, re.MULTILINE)])
    spoken = []
    for match in SPEAKING.finditer(code):
        end = closing(code, match.end() - 1)
        spoken.append((match.start(), end + 1 if end else match.end()))
    return blank(code, spoken)


SWAPS = [(r"(?<= )(<=|>=|<|>)(?=[ \n])", {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
         (r"(?<= )(==|!=)(?=[ \n])", {"==": "!=", "!=": "=="}),
         (r"(?<= )(&&|\|\|)(?=[ \n])", {"&&": "||", "||": "&&"}),
         (r"(?<= )([+-]=?)(?=[ \n])", {"+": "-", "-": "+", "+=": "-=", "-=": "+="}),
         (r"(?<![\w.{'])([01])(?=u?l{0,2}\b)(?![\w]*[.xX])", {"0": "1", "1": "0"}),
         (r"\b(break|continue)(?=;)", {"break": "continue", "continue": "break"}),
         (r"(?<=[( ,!])(!)(?=[\w(*])", {"!": ""})]


# The lesser or greater of two, or what one exceeds the other by: equal ones give the same either way.
VALUE = r"(?:sizeof )?[*&]?[\w.\[\]()]+(?:->[\w.\[\]()]+)*"
ALONE, ENDED = r"(?<![\w.>\])])(?<![-+*/] )", r"(?![\w.(\[]|->|\s+[-+*/%<>=&|?])"
LIMITS = [re.compile(pattern.replace("X", f"(?P<x>{VALUE})", 1).replace("Y", f"(?P<y>{VALUE})", 1)
                     .replace("X", "(?P=x)").replace("Y", "(?P=y)"))
          for pattern in (ALONE + r"X ([<>]=?) Y\s+\?\s+(?:X\s+:\s+Y|Y\s+:\s+X)" + ENDED,
                          ALONE + r"X ([<>]=?) Y\s+\?\s+\(*(?:X - Y|Y - X)\b[^-+:;]*:\s+0\b",
                          r"if \(X ([<>]=?) Y\)\s+(?:X = Y|Y = X);")]


def edits_of(code):
    """Begin, end and replacement of each fault that can be planted."""
    limits = {match.start(2) for pattern in LIMITS for match in pattern.finditer(code)}
    for pattern, swaps in SWAPS:
        for match in re.finditer(pattern, code):
            if match.start(1) not in limits:
                yield match.start(1), match.end(1), swaps[match.group(1)]
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1)
        if end:
            condition = code[match.end():end]
            yield match.end(), end, ("!(", ")") if condition.strip() else None
    for match in re.finditer(r"^[ \t]+(\w+)\(", code, re.MULTILINE):
        end = closing(code, match.end() - 1)
        before = code[:match.start()].rstrip()
        if end is None or code[end + 1:end + 2] != ";" or QUIET_CALLS.match(match.group(1)):
            continue
        if before[-1:] in tuple(";{})") or before.endswith("else"):
            yield match.start(1), end + 1, "(void)0"


def show(text):
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87] + "..."


def whole_lines(text, begin, end):
    return text[text.rfind("\n", 0, begin) + 1:(text.find("\n", end) + 1 or len(text) + 1) - 1]


def sites(root, rooms=None):
    """Every fault that can be planted: path, begin, end and edit."""
    for path in sorted((root / "src").glob("*/*.c")):
        if rooms and path.parent.name not in rooms:
            continue
        for begin, end, edit in edits_of(bare(path.read_text())):
            if edit is not None:
                yield path, begin, end, edit


def at_site(root, site):
    path, begin, end, edit = site
    text = path.read_text()
    new = edit if isinstance(edit, str) else edit[0] + text[begin:end] + edit[1]
    mutated = text[:begin] + new + text[end:]
    name = path.relative_to(root).as_posix()
    was = show(whole_lines(text, begin, end))
    now = show(whole_lines(mutated, begin, begin + len(new)))
    return Fault(name, name.split("/")[1], 1 + text.count("\n", 0, begin), was, now, mutated, None,
                 "plain")


# ---- lists --------------------------------------------------------------------------------------

Record = collections.namedtuple("Record", "title file lane old new")


def read_list(path):
    record = None
    for line in path.read_text().splitlines():
        if line.startswith("=== "):
            if record:
                yield Record(*record)
            record = [line[4:].strip(), None, "plain", [], []]
        elif record is None or not line.strip():
            continue
        elif line.startswith("-"):
            record[3].append(line[1:])
        elif line.startswith("+"):
            record[4].append(line[1:])
        elif line.startswith("lane:"):
            record[2] = line[5:].strip()
        else:
            record[1] = line.strip()
    if record:
        yield Record(*record)


def place_of(lines, old):
    """The index at which `old` stands in `lines`; None if it does not, or more than once."""
    wanted = [line.strip() for line in old]
    stripped = [line.strip() for line in lines]
    places = [at for at in range(len(lines) - len(old) + 1)
              if stripped[at:at + len(old)] == wanted]
    return places[0] if len(places) == 1 else None


def planted(root, record):
    """The fault that a record describes."""
    path = root / record.file
    lines = path.read_text().splitlines() if path.exists() else []
    at = place_of(lines, record.old)
    room = record.file.split("/")[1]
    was, now = (show(" ".join(text)) for text in (record.old, record.new))
    if at is None:
        return Fault(record.file, room, 0, was, now, None, record.title, record.lane)
    # The same number of lines as before, so that __LINE__ stays.
    new = record.new + [""] * (len(record.old) - len(record.new))
    text = "\n".join(lines[:at] + new + lines[at + len(record.old):]) + "\n"
    differ = [k for k, line in enumerate(record.old) if k >= len(record.new) or
              line.strip() != record.new[k].strip()]
    line = at + 1 + (differ[0] if differ else 0)
    return Fault(record.file, room, line, was, now, text, record.title, record.lane)


def kept(root, rooms=None):
    """The faults that once survived, from tests/mutants/*.faults."""
    for path in sorted((root / "tests" / "mutants").glob("*.faults")):
        for record in read_list(path):
            fault = planted(root, record)
            if not rooms or fault.room in rooms:
                yield fault


def equivalent(root):
    """File and text with a fault -> why no test can notice it, from tests/mutants/equivalent.list."""
    path = root / "tests" / "mutants" / "equivalent.list"
    records = read_list(path) if path.exists() else []
    return {(fault.file, fault.text): fault.title
            for fault in (planted(root, record) for record in records)}
