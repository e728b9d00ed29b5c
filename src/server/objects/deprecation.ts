/** What is served and on its way out, in the words of kube-apiserver. */
import type { Resource } from "./registry.ts";

/** By `apiVersion Kind`. */
const DEPRECATIONS: ReadonlyMap<string, string> = new Map([
  ["v1 ComponentStatus", "v1.19+"],
  ["v1 Endpoints", "v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
]);

/** Undefined for what stays. */
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
