/** Validates ports of a Service. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { Service, ServicePort } from "../../api/generated/types/core-v1.ts";
import { dns1123Label, portName, portNumber } from "../../api/values/names.ts";
import { PROTOCOLS } from "../rules/address-rules.ts";
import { addNew, checkQualifiedName, checkRequiredChoice } from "../rules/value-rules.ts";
import { isHeadless } from "./service-shape.ts";

const PORTS = fieldPath("spec", "ports");

export function checkServicePorts(it: Service, errors: FieldErrors): void {
  const { ports = [], type } = it.spec;
  if (ports.length === 0 && !isHeadless(it) && type !== "ExternalName") errors.required(PORTS);
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    checkName(
      port.name ?? "",
      { names, isRequired: ports.length > 1, path: PORTS.index(i).child("name") },
      errors,
    );
    checkPort(port, PORTS.index(i), errors);
  }
  checkNodePorts(it, errors);
  checkUnique(ports, errors);
}

interface NameScope {
  readonly names: Set<string>;
  readonly isRequired: boolean;
  readonly path: FieldPath;
}

function checkName(name: string, { names, isRequired, path }: NameScope, errors: FieldErrors): void {
  if (name === "") {
    if (isRequired) errors.required(path);
    return;
  }
  errors.invalidFor(path, name, dns1123Label(name));
  if (!addNew(names, name)) errors.duplicate(path, name);
}

function checkPort(port: ServicePort, path: FieldPath, errors: FieldErrors): void {
  const { targetPort = 0, appProtocol } = port;
  errors.invalidFor(path.child("port"), port.port, portNumber(port.port));
  checkRequiredChoice({ path: path.child("protocol"), value: port.protocol, among: PROTOCOLS }, errors);
  const problems = typeof targetPort === "number" ? portNumber(targetPort) : portName(targetPort);
  errors.invalidFor(path.child("targetPort"), targetPort, problems);
  if (appProtocol !== undefined) checkQualifiedName(appProtocol, path.child("appProtocol"), errors);
}

function checkNodePorts({ spec: { ports = [], type } }: Service, errors: FieldErrors): void {
  const taken = new Set<string>();
  for (const [i, { nodePort, protocol }] of ports.entries()) {
    const path = PORTS.index(i).child("nodePort");
    if (nodePort === undefined) continue;
    if (type === "ClusterIP") errors.forbidden(path, "may not be used when `type` is 'ClusterIP'");
    if (!addNew(taken, `${protocol}/${nodePort}`)) errors.duplicate(path, nodePort);
  }
}

function checkUnique(ports: readonly ServicePort[], errors: FieldErrors): void {
  const taken = new Set<string>();
  for (const [i, { port, protocol }] of ports.entries()) {
    if (addNew(taken, `${protocol}/${port}`)) continue;
    // Upstream prints its Go struct, with only these two fields set.
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    errors.duplicate(PORTS.index(i), shown);
  }
}
