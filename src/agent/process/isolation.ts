/** Finds out how far this machine lets pods be separated from each other. */
import { userInfo } from "node:os";
import type { Loop } from "../../base/loop/loop.ts";
import { runCommand } from "./run-command.ts";
import { quoteWord, quoteWords } from "./shell-words.ts";

export type Isolation =
  /** A network, PID and mount namespace for each pod. Those of a normal user are in a user namespace of the node. */
  | { readonly type: "namespaces"; readonly owner: NamespaceOwner }
  /** All pods share the network and the files of the machine. `reason` says what is missing. */
  | { readonly type: "shared"; readonly reason: string };

export type NamespaceOwner = "root" | "user";

export const SHARED_NETWORK_HELP =
  "run setpoint as root on Linux, or where a normal user may make namespaces, with util-linux and iproute2 installed, to give pods networks of their own";

/** Options of `unshare` that give a normal user the rights of root over namespaces made inside. */
export const USER_NAMESPACE = ["--user", "--map-root-user"];

/** Words before a command that make the namespaces of a container; its first process has them all. */
export const CONTAINER_NAMESPACES = [
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--propagation",
  "private",
];

/** Words before a command that bring it into namespaces of a process, for example `--net`. */
export function enterWords(
  owner: NamespaceOwner,
  pid: number,
  namespaces: readonly string[],
): readonly string[] {
  const user = owner === "user" ? ["--user", "--preserve-credentials"] : [];
  return ["nsenter", `--target=${String(pid)}`, ...user, ...namespaces];
}

/** Words before a command that give it its own user back, without the rights of root. */
export function ownUserWords(uid: number, gid: number): readonly string[] {
  return ["unshare", "--user", `--map-user=${String(uid)}`, `--map-group=${String(gid)}`];
}

/** Shell command that names the machine of the namespace. A normal user may not write the file. */
export function hostnameCommand(name: string): string {
  const word = quoteWord(name);
  return `{ { printf %s ${word} >/proc/sys/kernel/hostname; } 2>/dev/null || hostname ${word}; }`;
}

const TRIAL = [
  "mount -t proc proc /proc",
  "mount -t tmpfs tmpfs /tmp",
  "ip link set lo up",
  "ip link add name pods type bridge",
  "ip link add eth0 type veth peer name cable",
  hostnameCommand("trial"),
  "nsenter --target=1 --net true",
];

/** Tries it in namespaces that end with the trial. */
export async function findIsolation(loop: Loop): Promise<Isolation> {
  if (process.platform !== "linux")
    return { type: "shared", reason: `${process.platform} has no namespaces` };
  const { uid, gid } = userInfo();
  const owner = uid === 0 ? "root" : "user";
  const words = [
    "unshare",
    ...(owner === "user" ? USER_NAMESPACE : []),
    ...["--net", "--uts", "--ipc"],
    ...CONTAINER_NAMESPACES,
    ...[
      "sh",
      "-c",
      [...TRIAL, ...(owner === "user" ? [quoteWords([...ownUserWords(uid, gid), "true"])] : [])].join(" && "),
    ],
  ];
  const { exitCode, stderr } = await runCommand(loop, words);
  if (exitCode === 0) return { type: "namespaces", owner };
  const subject = owner === "root" ? "namespaces are" : "namespaces of a normal user are";
  return { type: "shared", reason: `${subject} not permitted here: ${firstLine(stderr)}` };
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
