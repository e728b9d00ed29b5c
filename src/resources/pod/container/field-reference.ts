/** Validates references from environment variables and volumes to fields and resources of the pod. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { ObjectFieldSelector, ResourceFieldSelector } from "../../../api/generated/types/core-v1.ts";
import { qualifiedName } from "../../../api/values/names.ts";

/** Every field that the API knows; each place accepts some of them. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.serviceAccountName",
  "spec.schedulerName",
  "status.phase",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
]);

export interface FieldReferencePlace {
  readonly path: FieldPath;
  /** Sorted, because error messages list them. */
  readonly fields: readonly string[];
}

export function checkFieldReference(
  { apiVersion = "", fieldPath }: ObjectFieldSelector,
  place: FieldReferencePlace,
  errors: FieldErrors,
): void {
  const { path, fields } = place;
  if (apiVersion === "") return errors.required(path.child("apiVersion"));
  if (fieldPath === "") return errors.required(path.child("fieldPath"));
  const problem = conversionProblem(apiVersion, fieldPath);
  if (problem !== undefined) {
    return errors.invalid(path.child("fieldPath"), fieldPath, `error converting fieldPath: ${problem}`);
  }
  const { field = "", subscript = "" } = findSubscript(fieldPath) ?? {};
  if (field !== "") {
    // Keys of annotations are case-insensitive.
    const key = field === "metadata.annotations" ? subscript.toLowerCase() : subscript;
    return errors.invalidFor(path, key, qualifiedName(key));
  }
  const name = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  if (!fields.includes(name)) errors.notSupported(path.child("fieldPath"), name, fields);
}

interface Subscripted {
  readonly field: string;
  readonly subscript: string;
}

/**
 * Splits `metadata.labels['app']` at the last bracket. A regular expression would backtrack over each
 * bracket.
 */
function findSubscript(fieldPath: string): Subscripted | undefined {
  const start = fieldPath.endsWith("']") ? fieldPath.slice(0, -2).lastIndexOf("['") : -1;
  if (start === -1) return undefined;
  return { field: fieldPath.slice(0, start), subscript: fieldPath.slice(start + 2, -2) };
}

function conversionProblem(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  const field = findSubscript(fieldPath)?.field;
  if (field !== undefined) {
    const takesKey = field === "metadata.annotations" || field === "metadata.labels";
    return takesKey ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  const isKnown = KNOWN_FIELDS.has(fieldPath) || fieldPath === "spec.host";
  return isKnown ? undefined : `field label not supported: ${fieldPath}`;
}

const RESOURCE_FIELDS = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;
const BYTE_DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** A `volume` reference must name a container, because the volume belongs to none. */
export function checkResourceReference(
  { containerName = "", resource, divisor = "0" }: ResourceFieldSelector,
  place: { readonly path: FieldPath; readonly user: "container" | "volume" },
  errors: FieldErrors,
): void {
  const { path, user } = place;
  if (user === "volume" && containerName === "") errors.required(path.child("containerName"));
  else if (resource === "") errors.required(path.child("resource"));
  else if (!RESOURCE_FIELDS.includes(resource) && !HUGE_PAGES.test(resource)) {
    errors.notSupported(path.child("resource"), resource, RESOURCE_FIELDS);
  }
  const divisors = divisorsOf(resource);
  if (divisor === "0" || divisors === undefined || divisors.values.includes(divisor)) return;
  errors.invalid(path.child("divisor"), resource, divisors.problem);
}

function divisorsOf(
  resource: string,
): { readonly values: readonly string[]; readonly problem: string } | undefined {
  const name = resource.replace(/^(limits|requests)\./, "");
  if (name === "cpu") {
    return {
      values: ["1m", "1"],
      problem: "only divisor's values 1m and 1 are supported with the cpu resource",
    };
  }
  const noun = HUGE_PAGES.test(resource)
    ? "hugepages"
    : new Map([
        ["memory", "memory"],
        ["ephemeral-storage", "local ephemeral storage"],
      ]).get(name);
  if (noun === undefined) return undefined;
  const problem = `only divisor's values ${BYTE_DIVISORS.join(", ")} are supported with the ${noun} resource`;
  return { values: BYTE_DIVISORS, problem };
}
