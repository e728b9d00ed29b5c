/** Script of the first process of a container: its surroundings, and then its program. */
import { DEFAULT_PATH } from "./command-environment.ts";
import { ownUserWords } from "./isolation.ts";
import type { Surroundings } from "./run-folder.ts";
import { FIND_PROGRAM, START_PREFIX } from "./scripts.ts";
import { quoteWord, quoteWords } from "./shell-words.ts";

export interface StartScriptOptions {
  readonly command: readonly string[];
  readonly surroundings: Surroundings;
  /** Commands that make the mount namespace; undefined if the container shares that of the machine. */
  readonly mounts: string | undefined;
}

export function startScript({ command, surroundings, mounts }: StartScriptOptions): string {
  const { cgroupFiles, workingDir } = surroundings;
  const program = `exec ${quoteWords(programWords(surroundings))} ${quoteWords(command)}`;
  return [
    START_PREFIX,
    FIND_PROGRAM,
    ...cgroupFiles.map((file) => `echo 0 >${quoteWord(file)} || fail "cannot join the cgroup"`),
    ...(mounts === undefined ? [] : [`message=$( {\n${mounts}\n} 2>&1 ) || fail "cannot mount: $message"`]),
    `cd ${quoteWord(workingDir)} 2>/dev/null || fail ${quoteWord(`working directory ${workingDir} does not exist`)}`,
    `find_program ${quoteWord(command[0] ?? "")} ${quoteWord(searchPath(surroundings))}`,
    // The first process of a PID namespace would ignore signals without a handler, and would not reap orphans: it stays a shell.
    // Its child says that it started: a stop that follows finds the program.
    ...(mounts === undefined
      ? ["echo started >&5", `${program} 5>&-`]
      : [
          "exec 6<&0 7>&2 2>/dev/null",
          `( echo started >&5; ${program} <&6 2>&7 5>&- 6<&- 7>&- )`,
          "exit $?",
        ]),
    "",
  ].join("\n");
}

/** Commands that run a program beside a container: it becomes part of its cgroups and gets its environment. */
export function besideScript(surroundings: Surroundings, command: readonly string[]): string {
  return [
    "fail() { printf '%s\\n' \"$*\" >&3; exit 127; }",
    FIND_PROGRAM,
    ...surroundings.cgroupFiles.map((file) => `echo 0 >${quoteWord(file)}`),
    `cd ${quoteWord(surroundings.workingDir)} || exit 1`,
    `find_program ${quoteWord(command[0] ?? "")} ${quoteWord(searchPath(surroundings))}`,
    `exec ${quoteWords(programWords(surroundings))} ${quoteWords(command)} 3>&-`,
  ].join("\n");
}

function searchPath({ env }: Surroundings): string {
  return new Map(env).get("PATH") ?? DEFAULT_PATH;
}

/** Commands that set limits, user and environment, each of which runs the next one. */
function programWords({ env, rlimits, ...user }: Surroundings): readonly string[] {
  const limits = rlimits.length === 0 ? [] : ["prlimit", ...rlimits.map((limit) => `--${limit}`)];
  const variables = new Map([["PATH", DEFAULT_PATH], ...env]);
  return [
    ...limits,
    ...userWords(user),
    "env",
    "-i",
    ...[...variables].map(([name, value]) => `${name}=${value}`),
  ];
}

function userWords({
  uid,
  gid,
  groups,
  ownUser,
  restrictions = [],
}: Pick<Surroundings, "uid" | "gid" | "groups" | "ownUser" | "restrictions">): readonly string[] {
  const isSame = ownUser !== undefined || (uid === undefined && gid === undefined && groups.length === 0);
  const user = [
    ...(uid === undefined ? [] : [`--reuid=${String(uid)}`]),
    ...(gid === undefined ? [] : [`--regid=${String(gid)}`]),
    groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`,
  ];
  const options = [...(isSame ? [] : user), ...restrictions];
  return [
    ...(options.length === 0 ? [] : ["setpriv", ...options]),
    ...(ownUser === undefined ? [] : ownUserWords(ownUser.uid, ownUser.gid)),
  ];
}
