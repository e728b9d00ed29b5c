/** Whether a container that ended is started again. */
import type { Container, ContainerRestartRule, Pod } from "../../api/generated/types/core-v1.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";

export type ContainerRole = "init" | "sidecar" | "main" | "ephemeral";

export interface RoleContainer {
  readonly role: ContainerRole;
  readonly container: Container;
}

/** All containers of a pod in the order of its spec, init containers first. */
export function containersOf({ spec }: Pod): readonly RoleContainer[] {
  const { initContainers, ephemeralContainers } = spec;
  const main = spec.containers.map((container): RoleContainer => ({ role: "main", container }));
  if (initContainers === undefined && ephemeralContainers === undefined) return main;
  const init = (initContainers ?? []).map((container): RoleContainer => ({
    role: isSidecar(container) ? "sidecar" : "init",
    container,
  }));
  const ephemeral = (ephemeralContainers ?? []).map((container): RoleContainer => ({
    role: "ephemeral",
    container,
  }));
  return [...init, ...main, ...ephemeral];
}

export function restarts({ spec }: Pod, { role, container }: RoleContainer, exitCode: number): boolean {
  if (role === "sidecar") return true;
  if (role === "ephemeral") return false;
  if ((container.restartPolicyRules ?? []).some((rule) => asksForRestart(rule, exitCode))) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy ?? "Always";
  if (policy === "Never") return false;
  return exitCode !== 0 || (policy === "Always" && role === "main");
}

function asksForRestart({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (action !== "Restart" || exitCodes === undefined) return false;
  const isListed = (exitCodes.values ?? []).includes(exitCode);
  return exitCodes.operator === "NotIn" ? !isListed : isListed;
}
