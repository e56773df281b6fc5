"""The pages name every command, option and setting, and no option that does not exist."""

import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / name).read_text() for name in ("man/keel.1", "docs/cli.md", "docs/settings.md")}
MAN = PAGES["man/keel.1"].replace("\\-", "-")


def keel(*words):
    return subprocess.run(["keel", *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def named(text):
    return re.findall(r"^  (\S+) ", text, re.MULTILINE)


commands = named(keel("help"))
caches = ["ls", "stat", "verify", "prune", "clear", "path", "remotes", "push", "pull", "sync", "export", "import",
          "keygen", "trust", "untrust", "keys"]
parts = [[command] for command in commands] + [["runs", "prune"], ["bundle", "diff"]] + [
    ["cache", name] for name in caches] + [
    ["contract", part] for part in ("show", "diff", "record", "update", "check")]
options = {option.split("[")[0] for part in parts for option in named(keel(*part, "--help"))
           if option.startswith("--")}
settings = [key for key in json.loads(keel("config", "--json")) if key != "config_file"]

wanted = {
    "man/keel.1": [f"keel {command}" for command in commands + [f"cache {name}" for name in caches]]
    + sorted(options) + settings + [f"KEEL_{key.upper()}" for key in settings],
    "docs/cli.md": [f"keel {command}" for command in commands if command != "help"]
    + [f"keel cache {name}" for name in caches],
    "docs/settings.md": settings + [f"KEEL_{key.upper()}" for key in settings]
    + [f"--{key.replace('_', '-')}" for key in settings],
}
for page, words in wanted.items():
    text = MAN if page == "man/keel.1" else PAGES[page]
    for word in words:
        if word not in text:
            print(f"{page} does not name {word}")
for page, text in PAGES.items():
    for option in set(re.findall(r"--[a-z][a-z-]*", text.replace("\\-", "-"))):
        if option not in options | {"--help", "--version", "--xla"}:
            print(f"{page} names {option}, which no command takes")
# A command's heading is the usage that the command prints.
for command in commands:
    usage = keel(command, "--help").split("\n")[0].removeprefix("usage: ")
    if f"## `{usage}`\n" not in PAGES["docs/cli.md"]:
        print(f"docs/cli.md has no heading `{usage}`")
# Settings have the sentences of the program's own table.
for key in settings:
    sentence = re.search(rf"^  --{key.replace('_', '-')} \S+ +(.*)$", keel("rehearse", "--help"), re.MULTILINE)
    if sentence[1] not in PAGES["docs/settings.md"].replace("`", ""):
        if key != "mode":  # its values have a table of their own
            print(f"docs/settings.md does not say '{sentence[1]}' of {key}")

# Each message of Keel's that the page of symptoms quotes is in the sources. There "..." and words in
# capitals stand for what varies.
LITERAL = r'"(?:\\.|[^"\\\n])*"'


def said():
    """All texts of the sources, with adjacent literals joined and conversions blanked."""
    texts = []
    for path in [*(ROOT / "src").rglob("*.[ch]"), *(ROOT / "python" / "keel").rglob("*.py")]:
        for run in re.findall(rf"{LITERAL}(?:\s*\\?\s*f?{LITERAL})*", path.read_text()):
            texts.append("".join(literal[1:-1] for literal in re.findall(LITERAL, run)))
    return re.sub(r"%[-.*0-9]*(?:ll|z)?[a-z]|\{[^{}\n]*\}", "%", "\n".join(texts))


SAID, SYMPTOMS = said(), (ROOT / "docs" / "troubleshooting.md").read_text()
messages = re.findall(r"`keel: ([^`]+)`", SYMPTOMS)
for message in messages:
    for part in re.split(r"\.\.\.|\b(?:DIR|NAME|PID|N|RUN|CLIENT|PATH|CMD|FLAG)\b", message):
        if part.strip(" :;,") not in SAID:
            print(f"docs/troubleshooting.md quotes '{part.strip()}', which Keel does not say")
print("read" if len(messages) > 10 and len(SAID) > 10000 else "unread")
