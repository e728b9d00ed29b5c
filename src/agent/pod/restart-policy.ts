/** Decides whether a container that ended restarts. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { findRestartRule, RESTART_ALL } from "../../resources/pod/container/restart-rules.ts";
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
  if (findRestartRule(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy ?? "Always";
  if (policy === "Never") return false;
  return exitCode !== 0 || (policy === "Always" && role === "main");
}

/** Whether this exit restarts all containers of the pod. */
export function restartsAll({ role, container }: RoleContainer, exitCode: number): boolean {
  return role !== "ephemeral" && findRestartRule(container, exitCode)?.action === RESTART_ALL;
}
