/** Resolves what a program of a process pod finds around it. */
import { userInfo } from "node:os";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { Program, ProgramPort, ProgramUser } from "../runtime-handler.ts";
import type { ApiAddress } from "./api-gateway.ts";
import { restrictionsOf } from "./program-rights.ts";
import type { Surroundings } from "./run-folder.ts";

/** Limits of the processes of a pod, for example `nofile=65536,core=0`. */
const RLIMITS_ANNOTATION = "process.setpoint.dev/rlimits";
const RLIMIT =
  /^(?:as|core|cpu|data|fsize|locks|memlock|msgqueue|nice|nofile|nproc|rss|rtprio|sigpending|stack)=(?:\d+|unlimited)$/;

/** Problems of the annotation, for Events. */
export function findRlimitProblems(pod: Pod): readonly string[] {
  return rlimitTexts(pod)
    .filter((limit) => !RLIMIT.test(limit))
    .map(
      (limit) =>
        `annotation ${RLIMITS_ANNOTATION}: expected NAME=NUMBER as in nofile=65536, found ${JSON.stringify(limit)}`,
    );
}

function rlimitsOf(pod: Pod): readonly string[] {
  return rlimitTexts(pod).filter((limit) => RLIMIT.test(limit));
}

function rlimitTexts({ metadata }: Pod): readonly string[] {
  const text = new Map(Object.entries(metadata.annotations ?? {})).get(RLIMITS_ANNOTATION) ?? "";
  return text
    .split(",")
    .map((limit) => limit.trim())
    .filter((limit) => limit !== "");
}

export interface SurroundingsOptions {
  readonly pod: Pod;
  readonly program: Program;
  readonly hostname: string;
  readonly cgroupFiles: readonly string[];
  /** Whether the container begins as root of a user namespace. */
  readonly hasUserNamespace: boolean;
  readonly hasNamespaces: boolean;
  /** Variables that the handler sets itself. */
  readonly variables: readonly (readonly [string, string])[];
  /** The API server, for a pod without a network of its own. */
  readonly api?: ApiAddress | undefined;
}

/** Throws if the agent's user may not become the container's user, or the container's limits cannot be kept. */
export function surroundingsOf(options: SurroundingsOptions): Surroundings {
  const { pod, program, hostname, cgroupFiles, variables, api, hasNamespaces } = options;
  const { uid, gid } = userInfo();
  const defaults: readonly (readonly [string, string])[] = [
    ["HOSTNAME", hostname],
    ["HOME", program.user.uid === undefined ? userInfo().homedir : "/"],
  ];
  return {
    env: [...new Map([...defaults, ...variables, ...program.env, ...apiVariables(program, api)])],
    workingDir: program.workingDir ?? "/",
    ...resolveUser(program.user, { uid, gid }),
    restrictions: restrictionsOf(program.rights, {
      uid: program.user.uid ?? uid,
      isRoot: uid === 0,
      isLinux: process.platform === "linux",
      hasNamespaces,
    }),
    ownUser: options.hasUserNamespace ? { uid, gid } : undefined,
    cgroupFiles,
    rlimits: rlimitsOf(pod),
  };
}

/** Where the Service `kubernetes` cannot be reached, its variables name the server itself. */
function apiVariables({ env }: Program, api: ApiAddress | undefined): readonly (readonly [string, string])[] {
  if (api === undefined || env.get("KUBERNETES_SERVICE_HOST") !== api.service.address) return [];
  const { host, port } = api.server;
  return [
    ["KUBERNETES_SERVICE_HOST", host],
    ["KUBERNETES_SERVICE_PORT", String(port)],
    ["KUBERNETES_SERVICE_PORT_HTTPS", String(port)],
  ];
}

/** Throws if it is not permitted. */
export function resolveUser(
  { uid, gid, supplementalGroups }: ProgramUser,
  self: { readonly uid: number; readonly gid: number },
): Pick<Surroundings, "uid" | "gid" | "groups"> {
  if (self.uid === 0) return { uid, gid, groups: supplementalGroups };
  if ((uid === undefined || uid === self.uid) && (gid === undefined || gid === self.gid))
    return { uid: undefined, gid: undefined, groups: [] };
  throw new Error(
    `user ${String(uid ?? self.uid)} and group ${String(gid ?? self.gid)} are not permitted: setpoint runs as user ${String(self.uid)}, ` +
      `group ${String(self.gid)}; run it as root, or remove runAsUser and runAsGroup`,
  );
}

/** Variables that name the ports of a pod on a shared network: `PORT` is the first one. */
export function portVariables(
  ports: readonly ProgramPort[],
  assigned: ReadonlyMap<number, number>,
): readonly (readonly [string, string])[] {
  const variables: [string, string][] = [];
  for (const { name, containerPort } of ports) {
    const port = String(assigned.get(containerPort) ?? containerPort);
    if (variables.length === 0) variables.push(["PORT", port]);
    if (name !== undefined) variables.push([`PORT_${name.toUpperCase().replaceAll("-", "_")}`, port]);
  }
  return variables;
}
