/** Finds out how far this machine lets pods be separated from each other. */
import type { Loop } from "../../base/loop/loop.ts";
import { runCommand } from "./run-command.ts";

export type Isolation =
  /** A network, PID and mount namespace for each pod. */
  | { readonly type: "namespaces" }
  /** All pods share the network and the files of the machine. `reason` says what is missing. */
  | { readonly type: "shared"; readonly reason: string };

export const SHARED_NETWORK_HELP =
  "run setpoint as root on Linux with util-linux and iproute2 installed to give pods networks of their own";

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

const TRIAL = [
  "unshare",
  "--net",
  "--uts",
  "--ipc",
  ...CONTAINER_NAMESPACES,
  "sh",
  "-c",
  "mount -t proc proc /proc && mount -t tmpfs tmpfs /tmp && ip link set lo up && nsenter --target=1 --net true",
];

/** Tries it in namespaces that end with the trial. */
export async function findIsolation(loop: Loop): Promise<Isolation> {
  if (process.platform !== "linux")
    return { type: "shared", reason: `${process.platform} has no namespaces` };
  if (process.getuid?.() !== 0) return { type: "shared", reason: "setpoint does not run as root" };
  const { exitCode, stderr } = await runCommand(loop, TRIAL);
  if (exitCode === 0) return { type: "namespaces" };
  return { type: "shared", reason: `namespaces are not permitted here: ${firstLine(stderr)}` };
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
