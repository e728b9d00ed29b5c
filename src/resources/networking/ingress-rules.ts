/** Validates the spec of an Ingress: rules, backends, TLS and class. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { TypedLocalObjectReference } from "../../api/generated/types/core-v1.ts";
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from "../../api/generated/types/networking-v1.ts";
import { findIpAddress } from "../../api/values/ip-address.ts";
import {
  dns1123Label,
  dns1123Subdomain,
  pathSegmentName,
  portName,
  portNumber,
  wildcardSubdomain,
} from "../../api/values/names.ts";
import { checkRequiredChoice } from "../rules/value-rules.ts";

export const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

const SPEC = fieldPath("spec");
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
/** Parts of a path that a proxy might resolve to another path. */
const UNSAFE_PARTS = ["//", "/./", "/../", "%2f", "%2F"];
const UNSAFE_ENDS = ["/..", "/."];

export function checkIngressSpec(
  { rules = [], defaultBackend, tls = [], ingressClassName }: IngressSpec,
  errors: FieldErrors,
): void {
  if (rules.length === 0 && defaultBackend === undefined) {
    errors.invalid(SPEC, undefined, "either `defaultBackend` or `rules` must be specified");
  }
  if (defaultBackend !== undefined) checkBackend(defaultBackend, SPEC.child("defaultBackend"), errors);
  for (const [i, rule] of rules.entries()) checkRule(rule, SPEC.child("rules").index(i), errors);
  for (const [i, entry] of tls.entries()) checkTls(entry, SPEC.child("tls").index(i), errors);
  if (ingressClassName !== undefined) {
    errors.invalidFor(SPEC.child("ingressClassName"), ingressClassName, dns1123Subdomain(ingressClassName));
  }
}

/** The annotation predates the field. Different values in both would name two classes. */
export function checkClassName({ metadata, spec }: Ingress, errors: FieldErrors): void {
  const annotation = metadata.annotations?.[CLASS_ANNOTATION];
  const { ingressClassName } = spec;
  if (annotation === undefined || ingressClassName === undefined || annotation === ingressClassName) return;
  const path = fieldPath("annotations").child(CLASS_ANNOTATION);
  errors.invalid(path, annotation, "must match `ingressClassName` when both are specified");
}

function checkRule({ host = "", http }: IngressRule, path: FieldPath, errors: FieldErrors): void {
  if (host !== "") checkHost(host, path.child("host"), errors);
  if (http === undefined) return;
  if (http.paths.length === 0) errors.required(path.child("http", "paths"));
  for (const [i, it] of http.paths.entries()) checkPath(it, path.child("http", "paths").index(i), errors);
}

function checkHost(host: string, path: FieldPath, errors: FieldErrors): void {
  if (findIpAddress(host) !== undefined) errors.invalid(path, host, "must be a DNS name, not an IP address");
  errors.invalidFor(path, host, host.includes("*") ? wildcardSubdomain(host) : dns1123Subdomain(host));
}

function checkPath(it: HTTPIngressPath, at: FieldPath, errors: FieldErrors): void {
  const { path = "", pathType }: Partial<HTTPIngressPath> = it;
  if (pathType === undefined) {
    errors.required(at.child("pathType"), "pathType must be specified");
    return;
  }
  checkRequiredChoice({ path: at.child("pathType"), value: pathType, among: PATH_TYPES }, errors);
  if (pathType === "Exact" || pathType === "Prefix") checkPlainPath(path, at.child("path"), errors);
  else if (path !== "" && !path.startsWith("/")) {
    errors.invalid(at.child("path"), path, "must be an absolute path");
  }
  checkBackend(it.backend, at.child("backend"), errors);
}

function checkPlainPath(path: string, at: FieldPath, errors: FieldErrors): void {
  if (!path.startsWith("/")) errors.invalid(at, path, "must be an absolute path");
  for (const part of UNSAFE_PARTS) {
    if (path.includes(part)) errors.invalid(at, path, `must not contain '${part}'`);
  }
  for (const end of UNSAFE_ENDS) {
    if (path.endsWith(end)) errors.invalid(at, path, `cannot end with '${end}'`);
  }
}

function checkBackend({ resource, service }: IngressBackend, path: FieldPath, errors: FieldErrors): void {
  if (resource !== undefined && service !== undefined) {
    errors.invalid(path, "", "cannot set both resource and service backends");
  } else if (resource !== undefined) {
    checkResourceBackend(resource, path.child("resource"), errors);
  } else if (service !== undefined) {
    checkServiceBackend(service, path, errors);
  } else {
    errors.invalid(path, "", "resource or service backend is required");
  }
}

function checkResourceBackend(
  resource: TypedLocalObjectReference,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { apiGroup }: Partial<TypedLocalObjectReference> = resource;
  if (apiGroup !== undefined) errors.invalidFor(path.child("apiGroup"), apiGroup, dns1123Subdomain(apiGroup));
  for (const field of ["kind", "name"] as const) {
    if (resource[field] === "") errors.required(path.child(field));
    else errors.invalidFor(path.child(field), resource[field], pathSegmentName(resource[field]));
  }
}

function checkServiceBackend(
  { name, port }: IngressServiceBackend,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const service = path.child("service");
  if (name === "") errors.required(service.child("name"));
  else errors.invalidFor(service.child("name"), name, dns1123Label(name));
  if (port.name !== undefined && port.number !== undefined) {
    errors.invalid(path, "", "cannot set both port name & port number");
  } else if (port.name !== undefined) {
    errors.invalidFor(service.child("port", "name"), port.name, portName(port.name));
  } else if (port.number !== undefined) {
    errors.invalidFor(service.child("port", "number"), port.number, portNumber(port.number));
  } else {
    errors.required(path, "port name or number is required");
  }
}

function checkTls({ hosts = [], secretName = "" }: IngressTLS, path: FieldPath, errors: FieldErrors): void {
  for (const [i, host] of hosts.entries()) {
    const at = path.child("hosts").index(i);
    errors.invalidFor(at, host, host.includes("*") ? wildcardSubdomain(host) : dns1123Subdomain(host));
  }
  if (secretName !== "")
    errors.invalidFor(path.child("secretName"), secretName, dns1123Subdomain(secretName));
}
