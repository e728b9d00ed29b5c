/** Validates the three lists of containers, and the fields that all containers share. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type { Container, EphemeralContainer } from "../../../api/generated/types/core-v1.ts";
import { dns1123Label } from "../../../api/values/names.ts";
import { addNew, checkRequiredChoice } from "../../rules/value-rules.ts";
import { isSidecar } from "../pod-resources.ts";
import type { PodScope } from "../pod-scope.ts";
import { checkEnv, checkEnvFrom } from "./env-rules.ts";
import { checkDevices, checkMounts } from "./mount-rules.ts";
import { checkHostPortConflicts, checkPorts } from "./port-rules.ts";
import { checkLifecycle, checkProbes } from "./probe-rules.ts";
import { checkContainerResources } from "./resource-rules.ts";
import { checkResizePolicy, checkRestartPolicy } from "./restart-rules.ts";
import { checkSecurityContext } from "./security-rules.ts";

const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
export const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

/**
 * Allowed fields of an ephemeral container: a debugging session must not change the pod's resources or
 * health.
 */
const EPHEMERAL_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "image",
  "command",
  "args",
  "workingDir",
  "envFrom",
  "env",
  "volumeMounts",
  "volumeDevices",
  "terminationMessagePath",
  "terminationMessagePolicy",
  "imagePullPolicy",
  "securityContext",
  "stdin",
  "stdinOnce",
  "tty",
  "targetContainerName",
]);

export function checkContainers(path: FieldPath, scope: PodScope): void {
  const { containers } = scope.spec;
  if (containers.length === 0) return scope.errors.required(path);
  const names = new Set<string>();
  for (const [i, container] of containers.entries()) {
    const at = path.index(i);
    checkContainer(container, at, scope);
    if (!addNew(names, container.name)) scope.errors.duplicate(at.child("name"), container.name);
    checkLongRunning(container, at, scope);
    checkRestartPolicy(container, at, scope.errors);
  }
  checkHostPortConflicts(containers, path, scope.errors);
}

export function checkInitContainers(path: FieldPath, scope: PodScope): void {
  const { errors, spec } = scope;
  const names = new Set(spec.containers.map(({ name }) => name));
  for (const [i, container] of (spec.initContainers ?? []).entries()) {
    const at = path.index(i);
    checkContainer(container, at, scope);
    checkRestartPolicy(container, at, errors);
    if (!addNew(names, container.name)) errors.duplicate(at.child("name"), container.name);
    // Each container is checked alone: init containers run one after the other and may reuse host ports.
    checkHostPortConflicts([container], path, errors);
    if (isSidecar(container)) checkLongRunning(container, at, scope);
    else checkShortRunning(container, at, scope);
  }
}

/** Checks probes and hooks, which only a restartable container may have. */
function checkLongRunning(container: Container, path: FieldPath, scope: PodScope): void {
  if (container.lifecycle !== undefined) checkLifecycle(container.lifecycle, path.child("lifecycle"), scope);
  checkProbes(container, path, scope);
}

function checkShortRunning(container: Container, path: FieldPath, { errors }: PodScope): void {
  for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (container[field] === undefined) continue;
    errors.forbidden(path.child(field), "may not be set for init containers without restartPolicy=Always");
  }
  // A container that runs only once cannot restart for a resize.
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy !== "RestartContainer") continue;
    const problem = "must be 'NotRequired' for init containers without restartPolicy=Always";
    errors.invalid(path.child("resizePolicy"), restartPolicy, problem);
  }
}

export function checkEphemeralContainers(path: FieldPath, scope: PodScope): void {
  const { errors, spec } = scope;
  const lasting = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(lasting);
  for (const [i, container] of (spec.ephemeralContainers ?? []).entries()) {
    const at = path.index(i);
    checkContainer(container, at, scope);
    checkImageBlanks(container, at, scope);
    if (!addNew(names, container.name)) errors.duplicate(at.child("name"), container.name);
    const { targetContainerName = "" } = container;
    if (targetContainerName !== "" && !lasting.has(targetContainerName)) {
      errors.notFound(at.child("targetContainerName"), targetContainerName);
    }
    checkEphemeralFields(container, at, scope);
  }
}

function checkEphemeralFields(container: EphemeralContainer, path: FieldPath, { errors }: PodScope): void {
  const problem = "cannot be set for an Ephemeral Container";
  const hasResources = Object.keys(container.resources).length > 0;
  for (const field of Object.keys(container)) {
    if (EPHEMERAL_FIELDS.has(field) || (field === "resources" && !hasResources)) continue;
    errors.forbidden(path.child(field), problem);
  }
  for (const [i, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
    const at = path.child("volumeMounts").index(i);
    if (subPath !== undefined) errors.forbidden(at.child("subPath"), problem);
    if (subPathExpr !== undefined) errors.forbidden(at.child("subPathExpr"), problem);
  }
}

/** For pods only: stored templates may have blanks in images, because upstream once accepted them. */
export function checkImageBlanks(
  { image = "" }: { readonly image?: string },
  path: FieldPath,
  { errors }: Pick<PodScope, "errors">,
): void {
  if (image.trim() === image) return;
  errors.invalid(path.child("image"), image, "must not have leading or trailing whitespace");
}

function checkContainer(container: Container | EphemeralContainer, path: FieldPath, scope: PodScope): void {
  const { errors } = scope;
  const name = path.child("name");
  if (container.name === "") errors.required(name);
  else errors.invalidFor(name, container.name, dns1123Label(container.name));
  if ((container.image ?? "") === "") errors.required(path.child("image"));
  const policy = path.child("terminationMessagePolicy");
  checkRequiredChoice(
    { path: policy, value: container.terminationMessagePolicy, among: MESSAGE_POLICIES },
    errors,
  );
  checkPorts(container.ports ?? [], path.child("ports"), errors);
  checkEnv(container.env ?? [], path.child("env"), errors);
  checkEnvFrom(container.envFrom ?? [], path.child("envFrom"), errors);
  checkMounts(container, path, scope);
  checkDevices(container, path, scope);
  const pull = path.child("imagePullPolicy");
  checkRequiredChoice({ path: pull, value: container.imagePullPolicy, among: PULL_POLICIES }, errors);
  checkContainerResources(container.resources, path.child("resources"), scope);
  checkResizePolicy(container.resizePolicy ?? [], path.child("resizePolicy"), scope);
  if (container.securityContext !== undefined) {
    checkSecurityContext(container.securityContext, path.child("securityContext"), scope);
  }
}
