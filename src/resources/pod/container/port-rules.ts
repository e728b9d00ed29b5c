/** Validates ports of containers. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { Container, ContainerPort } from "../../../api/generated/types/core-v1.ts";
import { portName, portNumber } from "../../../api/values/names.ts";
import { addNew, checkRequiredChoice } from "../../rules/value-rules.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

export function checkPorts(ports: readonly ContainerPort[], path: FieldPath, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const at = path.index(i);
    if (port.name !== undefined) checkPortName({ name: port.name, names, path: at.child("name") }, errors);
    if (port.containerPort === 0) errors.required(at.child("containerPort"));
    else errors.invalidFor(at.child("containerPort"), port.containerPort, portNumber(port.containerPort));
    if (port.hostPort !== undefined) {
      errors.invalidFor(at.child("hostPort"), port.hostPort, portNumber(port.hostPort));
    }
    checkRequiredChoice({ path: at.child("protocol"), value: port.protocol, among: PROTOCOLS }, errors);
  }
}

interface NamedPort {
  readonly name: string;
  readonly names: Set<string>;
  readonly path: FieldPath;
}

function checkPortName({ name, names, path }: NamedPort, errors: FieldErrors): void {
  const problems = portName(name);
  if (problems.length > 0) errors.invalidFor(path, name, problems);
  else if (!addNew(names, name)) errors.duplicate(path, name);
}

/** Containers that run at the same time must not use the same host port. */
export function checkHostPortConflicts(
  containers: readonly Container[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  const taken = new Set<string>();
  for (const [i, { ports = [] }] of containers.entries()) {
    for (const [j, { protocol = "", hostIP = "", hostPort }] of ports.entries()) {
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (hostPort === undefined || addNew(taken, key)) continue;
      errors.duplicate(path.index(i).child("ports").index(j).child("hostPort"), key);
    }
  }
}

/** Validates a probe's port: a number, or the name of a container's port. */
export function checkPortReference(port: number | string, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path, port, typeof port === "number" ? portNumber(port) : portName(port));
}
