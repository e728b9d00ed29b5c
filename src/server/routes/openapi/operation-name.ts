/** Names of operations, from which generated clients derive their class names. */

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** For example `CoreV1` or `RbacAuthorizationV1`. */
export function camelGroup({ group, version }: GroupVersion): string {
  return `${camel(groupTag(group))}${camel(version)}`;
}

/** For example `core_v1` or `rbacAuthorization_v1`. */
export function tagOf({ group, version }: GroupVersion): string {
  return `${groupTag(group)}_${version}`;
}

/** For example `core` or `rbacAuthorization`. */
export function groupTag(group: string): string {
  const [first = "", ...rest] = group === "" ? ["core"] : group.replace(/\.k8s\.io$/, "").split(".");
  return `${first}${rest.map(camel).join("")}`;
}

export function camel(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
