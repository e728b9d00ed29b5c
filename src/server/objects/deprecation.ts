/** Deprecation warnings of built-in APIs, with kube-apiserver's texts. */
import type { Resource } from "./registry.ts";

/** Keyed by `apiVersion Kind`. */
const DEPRECATIONS: ReadonlyMap<string, string> = new Map([
  ["v1 ComponentStatus", "v1.19+"],
  ["v1 Endpoints", "v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
]);

/** Undefined for an API that is not deprecated. */
export function findDeprecation({
  apiVersion,
  facts,
  deprecation,
}: Pick<Resource, "apiVersion" | "facts" | "deprecation">): string | undefined {
  if (deprecation !== undefined) return deprecation;
  const name = `${apiVersion} ${facts.kind}`;
  const since = DEPRECATIONS.get(name);
  return since === undefined ? undefined : `${name} is deprecated in ${since}`;
}
