/** Names of operations, and of the classes that generated clients make of them. */

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** `CoreV1`, `RbacAuthorizationV1`. */
export function camelGroup({ group, version }: GroupVersion): string {
  return `${camel(groupTag(group))}${camel(version)}`;
}

/** `core_v1`, `rbacAuthorization_v1`. */
export function tagOf({ group, version }: GroupVersion): string {
  return `${groupTag(group)}_${version}`;
}

/** `core`, `rbacAuthorization`. */
export function groupTag(group: string): string {
  const [first = "", ...rest] = group === "" ? ["core"] : group.replace(/\.k8s\.io$/, "").split(".");
  return `${first}${rest.map(camel).join("")}`;
}

export function camel(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
