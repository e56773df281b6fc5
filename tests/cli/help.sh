# Every command explains itself; what is no command is refused.
keel help
for command in run runs stats show key cache config version help "cache ls" "cache verify"; do
    # shellcheck disable=SC2086  # two words
    keel $command --help >text || echo "exit $?"
    grep -q -- '^usage: keel '"$command" text && grep -q -- '^  --help' text && echo "$command: good"
done
# shellcheck disable=SC2013  # words, each a command
for command in $(keel help | sed -n 's/^  \([a-z]*\) .*/\1/p') "bundle diff" "cache clear"; do
    # shellcheck disable=SC2086  # two words
    keel $command --help | sed '1,/^options:/d' | sed '1,/^$/d' | grep '.\{101\}' && echo "$command: too wide"
done
keel help stats | diff - <(keel stats --help) && echo "help stats is stats --help"
keel; echo "exit $?"
keel frobnicate; echo "exit $?"
keel help frobnicate; echo "exit $?"
keel cache; echo "exit $?"
keel cache frobnicate; echo "exit $?"
