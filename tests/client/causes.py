"""The examples in docs/causes, as they stand there: the first of a page compiles again and keel why
says what the page shows, the mended one does not."""

import os
import re
import sys

from harness import (KEEL, PLUGIN, PYTHON, ROOT, Report, Workspace, clean_environment, journal,
                     of_kind, other_plugins, run, told, whole_json)

PAGES = ROOT / "docs" / "causes"


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def newest_events(runs):
    """Of the newest run; none if there is no run."""
    ids = sorted(path.name for path in runs.glob("2*"))
    return journal(runs, ids[-1]) if ids else []


def asked_again(events):
    """Programs that the client asked for though it had them, or had had a module of their name."""
    return [event["name"] for event in of_kind(events, "compile", "load")
            if event["recompile"] or event.get("tier") == "memory"]


def ran_by_themselves(events):
    """Operations outside jit of which there are several programs."""
    names = [event["name"] for event in of_kind(events, "compile") if event.get("eager")]
    return sorted({name for name in names if names.count(name) > 2})


def compiled_steps(events):
    return [event["name"] for event in of_kind(events, "compile") if event["name"] == "jit_step"]


def named_causes(why):
    return {item["kind"] for item in why} | {item["pattern"] for item in why if item["pattern"]}


def shown(page):
    """The item that the page shows: its first block that is numbered as those of keel why are."""
    return next(text for text in blocks(page, "") if re.match(r"\d+  ", text))


def compared(text):
    """An item less its number and what is another in each run: seconds, runs, digests, line ends."""
    text = re.sub(r"^\d+  ", "", text)
    text = re.sub(r"\b\d+(\.\d+)? m?s\b", "TIME", text)
    text = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", "RUN", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "DIGEST", text)
    return " ".join(text.split())


def run_block(workspace, name, script, shell):
    """Runs a Python block, or a shell block with train.py beside it, with everything of its own."""
    folder = workspace.path(name)
    folder.mkdir()
    (folder / "train.py").write_text(script)
    other = next((plugin for _, plugin in other_plugins()), "")
    environment = clean_environment() | {
        "PATH": f"{KEEL.parent}:{PYTHON.parent}:{os.environ['PATH']}",
        "KEEL_CACHE_DIR": str(folder / "cache"), "KEEL_RUN_DIR": str(folder / "runs"),
        "KEEL_PLUGIN": str(PLUGIN), "KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3",
        "ONE_PLUGIN": str(PLUGIN), "OTHER_PLUGIN": str(other)}
    command = ["bash", "-euc", shell or "keel run -- python train.py"]
    answer = run(command, environment, cwd=folder)
    why = whole_json(run([KEEL, "why", "--json", "--all"], environment, cwd=folder))
    text = run([KEEL, "why"] + (["--all"] if name.startswith("first") else []), environment, cwd=folder)
    return answer, newest_events(folder / "runs"), named_causes(why or []), text.out


def check_page(report, workspace, page):
    scripts, shells = blocks(page, "python"), blocks(page, "sh")
    name = page.stem
    if shells:
        cases = [(scripts[0], shell) for shell in shells]
        count, what = compiled_steps, "compiled"
    else:
        cases = [(script, None) for script in scripts]
        count, what = asked_again, "asked for again"
    if name == "eager":
        count, what = ran_by_themselves, "compiled one by one"
    wanted = [True, False][2 - len(cases):]
    for index, ((script, shell), again) in enumerate(zip(cases, wanted, strict=True)):
        if shell and "OTHER_PLUGIN" in shell and not other_plugins():
            report.skip(f"{name}: the accident", "they are missing: tools/setup --all-plugins brings them")
            continue
        answer, events, named, text = run_block(workspace, f"{name}{index}", script, shell)
        title = f"{name}: {'the accident is' if again else 'mended, nothing is'} {what}"
        good = answer.code == 0 and bool(events) and bool(count(events)) == again
        report.check(title, good, f"{count(events)}; {told(answer)}")
        if again:
            report.check(f"{name}: keel why names it", name in named, sorted(named))
            report.check(f"{name}: keel why says what the page shows",
                         compared(shown(page)) in compared(text), text)


def main():
    report = Report()
    wanted = sys.argv[1:]
    with Workspace("causes") as workspace:
        for page in sorted(PAGES.glob("*.md")):
            if page.name != "README.md" and (not wanted or page.stem in wanted):
                check_page(report, workspace, page)
    report.finish()


main()
