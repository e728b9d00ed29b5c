/** RBAC rules that a program needs for its controllers, derived from what they declare. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { PolicyRule } from "../../api/generated/types/rbac-v1.ts";
import { groupOf } from "../refs/owner-reference.ts";
import type { Controller, ControllerDefinition } from "./controller.ts";

const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "patch", "update"];
/** Order of verbs in a rule. */
const VERBS = [...READ, ...WRITE];

/** Events about objects, and the Lease of a leader election. */
const COMMON: readonly PolicyRule[] = [
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
];

/** Rules for the reads and writes that the runtime makes. Requests of `reconcile` itself need rules of their own. */
export function permissionsOf(controllers: readonly Controller[]): readonly PolicyRule[] {
  const verbs = new Map<string, Set<string>>();
  const add = (type: ResourceType, more: readonly string[], subresource = ""): void => {
    const key = `${groupOf(type.apiVersion)} ${type.plural}${subresource}`;
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...more]));
  };
  for (const { definition } of controllers) addRules(definition, add);
  const rules = [...verbs].map(([key, found]): PolicyRule => {
    const [group = "", resource = ""] = key.split(" ");
    return { apiGroups: [group], resources: [resource], verbs: VERBS.filter((verb) => found.has(verb)) };
  });
  return [...rules, ...COMMON];
}

type Add = (type: ResourceType, verbs: readonly string[], subresource?: string) => void;

function addRules(definition: ControllerDefinition<ApiObject>, add: Add): void {
  const { for: own, owns = [], watches = [], reads = [], finalizer } = definition;
  add(own, finalizer === undefined ? READ : [...READ, "patch", "update"]);
  add(own, ["get", "patch", "update"], "/status");
  // Owner references that block a deletion need this permission.
  if (owns.length > 0) add(own, ["update"], "/finalizers");
  for (const type of owns) add(type, [...READ, ...WRITE]);
  for (const type of [...watches.map((watch) => watch.type), ...reads]) add(type, READ);
}
