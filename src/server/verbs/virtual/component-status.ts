/**
 * Health of the control plane's components, under the names that clients know. The store reports its own health. The scheduler and
 * the controllers may run anywhere: their leader election Lease shows their health. Without a Lease a component is absent.
 */
import { notFound } from "../../../api/errors/api-error.ts";
import type { Lease } from "../../../api/generated/types/coordination-v1.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Store } from "../../../store/store.ts";
import type { Resource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { ObjectAnswer } from "../../request/answer.ts";
import type { Verb } from "../verb.ts";

interface StatusParts {
  readonly store: Store;
  readonly loop: Loop;
}

const STORE = "etcd-0";
const LEASES = "/registry/leases/kube-system/";
const LEASED = [
  { name: "scheduler", lease: "kube-scheduler" },
  { name: "controller-manager", lease: "kube-controller-manager" },
] as const;

export const componentStatuses: Verb<Resource> = ({ info }, verbParts) => {
  const items = [storeStatus(verbParts), ...LEASED.flatMap((part) => leasedStatus(part, verbParts))];
  if (info.name === "") {
    const list = { apiVersion: "v1", kind: "ComponentStatusList", metadata: {}, items };
    return Promise.resolve(shown("ComponentStatusList", list));
  }
  const found = items.find(({ metadata }) => metadata.name === info.name);
  if (found === undefined) throw notFound({ group: "", resource: "componentstatuses" }, info.name);
  return Promise.resolve(shown("ComponentStatus", found));
};

interface Component {
  readonly metadata: { readonly name: string };
}

function leasedStatus(
  { name, lease }: (typeof LEASED)[number],
  { store, loop }: StatusParts,
): readonly Component[] {
  const entry = store.view.get(LEASES + lease);
  if (entry === undefined) return [];
  const { spec } = StoredObject.of(entry).object as Lease;
  const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 0 } = spec;
  const isHeld = holderIdentity !== "" && loop.now() < Date.parse(renewTime) + leaseDurationSeconds * 1000;
  return [component(name, isHeld ? undefined : `no instance holds the lease kube-system/${lease}`)];
}

function storeStatus({ store }: StatusParts): Component {
  const { state, reason } = store.health();
  return component(STORE, state === "ready" ? undefined : (reason ?? ""));
}

/** `problem` is undefined for a healthy component. */
function component(name: string, problem: string | undefined): Component {
  const condition =
    problem === undefined
      ? { type: "Healthy", status: "True", message: "ok" }
      : { type: "Healthy", status: "False", message: problem, error: problem };
  const value = { apiVersion: "v1", kind: "ComponentStatus", metadata: { name }, conditions: [condition] };
  return value;
}

function shown(kind: string, value: object): ObjectAnswer {
  const schema = findKindSchema("v1", kind);
  if (schema === undefined) throw new Error(`the published API has no ${kind}`);
  const object = toNormalForm(schema, value).value as ApiObject;
  return { type: "object", code: 200, object };
}
