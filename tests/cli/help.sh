# Every command explains itself; what is no command is refused.
keel help
for command in run runs stats show key cache config version help "cache ls" "cache verify"; do
    # shellcheck disable=SC2086  # two words
    keel $command --help >text || echo "exit $?"
    grep -q -- '^usage: keel '"$command" text && grep -q -- '^  --help' text && echo "$command: good"
done
keel help stats | diff - <(keel stats --help) && echo "help stats is stats --help"
keel; echo "exit $?"
keel frobnicate; echo "exit $?"
keel help frobnicate; echo "exit $?"
keel cache; echo "exit $?"
keel cache frobnicate; echo "exit $?"
