/** Options of `setpriv` that take from a program the rights that its security context denies. Pure. */
import type { ProgramRights } from "../runtime-handler.ts";
import { SHARED_NETWORK_HELP } from "./isolation.ts";

/** A container whose security context cannot be kept here. The message is the container's status. */
export class RightsError extends Error {}

export interface RightsPlace {
  /** User of the program outside of user namespaces. */
  readonly uid: number;
  /** Whether the agent has the rights of root on the machine. */
  readonly isRoot: boolean;
  readonly isLinux: boolean;
  readonly hasNamespaces: boolean;
}

/** Throws for what cannot be kept: a program must not get more rights than its container asks for. */
export function restrictionsOf(rights: ProgramRights, place: RightsPlace): readonly string[] {
  const problem = findProblem(rights, place);
  if (problem !== undefined) throw new RightsError(problem);
  // A program without root's rights can only gain capabilities, and gains none without new privileges.
  const dropsAll = namesOf(rights.droppedCapabilities).includes("all");
  const isFixed = !rights.mayGainPrivileges || (!place.isRoot && dropsAll);
  const capabilities = place.isRoot ? boundingSet(rights) : "";
  const options = [
    ...(isFixed ? ["--no-new-privs"] : []),
    ...(capabilities === "" ? [] : [`--bounding-set=${capabilities}`, "--inh-caps=-all"]),
  ];
  if (place.isLinux || options.length === 0) return options;
  throw new RightsError(
    "allowPrivilegeEscalation: false and dropped capabilities need Linux: remove these fields",
  );
}

function findProblem(
  { nonRoot, profiles, hasReadOnlyRoot }: ProgramRights,
  place: RightsPlace,
): string | undefined {
  const [profile] = profiles;
  if (nonRoot && place.uid === 0)
    return "container has runAsNonRoot and image will run as root: set runAsUser";
  if (profile !== undefined) return `process pods have no profiles: remove ${profile}`;
  if (!hasReadOnlyRoot || place.hasNamespaces) return undefined;
  return `readOnlyRootFilesystem needs a mount namespace: ${SHARED_NETWORK_HELP}, or remove the field`;
}

/** Empty for all capabilities. */
function boundingSet({ addedCapabilities, droppedCapabilities }: ProgramRights): string {
  const [added, dropped] = [namesOf(addedCapabilities), namesOf(droppedCapabilities)];
  if (added.includes("all")) return "";
  if (dropped.includes("all")) return ["-all", ...added.map((name) => `+${name}`)].join(",");
  return dropped
    .filter((name) => !added.includes(name))
    .map((name) => `-${name}`)
    .join(",");
}

/** As `setpriv` writes them. */
function namesOf(capabilities: readonly string[]): readonly string[] {
  return capabilities.map((name) => name.toLowerCase().replace(/^cap_/, ""));
}
