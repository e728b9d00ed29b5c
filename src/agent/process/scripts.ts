/**
 * Shell scripts that outlive the agent. They use nothing but a POSIX shell and the usual commands.
 *
 * `SHIM` holds the input, the output and the exit code of one container: the container writes into two FIFOs, `dd` moves the
 * output into files of bounded size, and the agent deletes each file once it is in the log. Without an agent the
 * container blocks when the files are full, and nothing is lost. On a full disk it loses up to 8 KiB of output a second.
 */

/** Sets `start` to the start time of the process, as `findProcess` reads it. */
const START_TIME = `
start_of() {
  if [ -r "/proc/$1/stat" ]; then
    read -r line <"/proc/$1/stat"
    set -- \${line##*)}
    shift 19
    start=$1
  else
    set -- $(LC_ALL=C ps -o lstart= -p "$1")
    start=$*
  fi
}
`;

/** Reads and files of one segment: at most 32 MiB, and at most three segments wait for the agent. */
const READ_BYTES = 8192;
const READS = 4096;
const WAITING = 2;

/** Arguments: a token for recognition, the folder of the run, and the command. */
export const SHIM = `${START_TIME}
cd "$2" || exit 1
shift 2
start_of $$
mkfifo out err || exit 1
exec 3<>out 4<>err 5>>state
echo "$$ $start" >shim.new && mv shim.new shim
input=/dev/null
if [ -e stdin ]; then
  input=in
  mkfifo in
  sleep 2147483647 3>&- 4>&- 5>&- 6<>in >/dev/null 2>&1 &
  keeper=$!
  start_of $keeper
  echo "$keeper $start" >keeper
fi
relay() {
  n=0
  until [ -e code ] && [ -e "$1.$n" ] && ! [ -s "$1.$n" ]; do
    [ -s "$1.$n" ] && n=$((n + 1))
    while [ -e "$1.$((n - ${String(WAITING)}))" ]; do sleep 0.2; done
    dd bs=${String(READ_BYTES)} count=${String(READS)} of="$1.$n" 2>/dev/null || sleep 1
  done
  : >"$1.end"
}
( exec 3>&- 4>&- 5>&-; relay out ) <out &
( exec 3>&- 4>&- 5>&-; relay err ) <err &
"$@" <$input >out 2>err 3>&- 4>&-
code=$?
until echo "$code" >code.new && mv code.new code; do sleep 1; done 2>/dev/null
exec 3>&- 4>&- 5>&-
[ -e keeper ] && kill -KILL "$keeper" 2>/dev/null
wait
`;

/**
 * Holds the namespaces of a pod, and ends the pod when its agent stays away. Arguments: the pod's token, its folder,
 * the file that names the agent's process, the seconds between two looks at it, and the number of looks in vain.
 */
export const HOLDER = `${START_TIME}
cd "$2" || exit 1
agent=$3 pause=$4 patience=$5
start_of $$
echo "$$ $start" >holder.new && mv holder.new holder
if [ -e network.sh ]; then
  message=$(sh ./network.sh 2>&1) || { echo "failed $message"; exit 1; }
fi
echo ready
exec >/dev/null 2>&1 </dev/null
agent_lives() {
  read -r pid known <"$agent" || return 1
  [ "$pid" = keep ] && return 0
  start=
  kill -0 "$pid" 2>/dev/null || [ -d "/proc/$pid" ] || return 1
  start_of "$pid"
  [ "$start" = "$known" ]
}
end_run() {
  # In a PID namespace the first process is a shell: it ends with the exit code of the program, its oldest child.
  program=$1
  if [ "$(readlink "/proc/$1/ns/pid")" != "$(readlink "/proc/$$/ns/pid")" ]; then
    read -r program rest <"/proc/$1/task/$1/children"
  fi
  kill -KILL "\${program:-$1}"
}
absent=0
while sleep "$pause"; do
  if agent_lives 2>/dev/null; then absent=0; else absent=$((absent + 1)); fi
  [ "$absent" -lt "$patience" ] && continue
  for state in containers/*/*/state; do
    read -r word pid known <"$state" || continue
    start=
    start_of "$pid" 2>/dev/null
    [ "$word" = pid ] && [ "$start" = "$known" ] && end_run "$pid"
  done
  for record in containers/*/*/run.json; do
    token=$(sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p' "$record" 2>/dev/null)
    [ -n "$token" ] || continue
    for environment in $(grep -ls "SETPOINT_RUN=$token" /proc/[0-9]*/environ 2>/dev/null); do
      pid=\${environment#/proc/}
      kill -KILL "\${pid%/environ}" 2>/dev/null
    done
  done
  exit 0
done
`;

/**
 * First lines of a container's start script: says which process it is, as the machine sees it. The process becomes
 * the container's program, or the first process of its PID namespace.
 */
export const START_PREFIX = `${START_TIME}
if [ -r /proc/self/stat ]; then
  read -r line </proc/self/stat
  pid=\${line%% *}
  start_of self
else
  pid=$$
  start_of $$
fi
echo "pid $pid $start" >&5
fail() {
  printf 'failed %s\\n' "$*" >&5
  exit 127
}
`;

/** Sets `found` to the file of the command \$1 in the search path \$2, or fails like other runtimes. */
export const FIND_PROGRAM = `
find_program() {
  case $1 in
  */*)
    [ -e "$1" ] || fail "exec: \\"$1\\": stat $1: no such file or directory"
    [ -d "$1" ] && fail "exec: \\"$1\\": is a directory"
    [ -x "$1" ] || fail "exec: \\"$1\\": permission denied"
    return ;;
  esac
  rest=$2:
  while [ -n "$rest" ]; do
    folder=\${rest%%:*}
    rest=\${rest#*:}
    [ -f "$folder/$1" ] && [ -x "$folder/$1" ] && return
  done
  fail "exec: \\"$1\\": executable file not found in \\$PATH"
}
`;
