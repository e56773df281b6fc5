# What `keel smoke` refuses, and commands that ask for no program.
export TMPDIR=$HOME
(
  keel smoke; echo "exit $?"
  keel smoke --; echo "exit $?"
  keel smoke true; echo "exit $?"
  keel smoke --vary; echo "exit $?"
  keel smoke --vary batch -- true; echo "exit $?"
  keel smoke --vary '=4' -- true; echo "exit $?"
  keel smoke --on nowhere:3 -- true; echo "exit $?"
  TMPDIR=$HOME/missing keel smoke -- true; echo "exit $?"
  keel smoke -- sh -c 'exit 7'; echo "exit $?"
  keel smoke -- true; echo "exit $?"
  # A signal to smoke alone ends the command, too, and nothing is left behind.
  mkfifo began
  keel smoke -- sh -c 'echo $$ >began; exec sleep 2000' &
  read -r command <began
  kill -TERM $!
  wait $!; echo "exit $?"
  kill -0 "$command" 2>/dev/null || echo "the command has ended"
  many=()
  for number in $(seq 17); do many+=("--vary=a=$number"); done
  keel smoke "${many[@]}" -- true; echo "exit $?"
) 2>&1
rm began
ls
