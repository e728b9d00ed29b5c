/** How the parts of the control plane are. There is one so far that can be ill: the store, under the name clients know. */
import { notFound } from "../../api/api-error.ts";
import { findKindSchema } from "../../api/built-in-schema.ts";
import { toNormalForm } from "../../api/normal-form.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { ObjectAnswer } from "../answer.ts";
import type { Verb, Workshop } from "../call.ts";
import type { Resource } from "../registry.ts";

const STORE = "etcd-0";

export const componentStatuses: Verb<Resource> = ({ info }, workshop) => {
  const items = [storeStatus(workshop)];
  if (info.name === "") {
    const list = { apiVersion: "v1", kind: "ComponentStatusList", metadata: {}, items };
    return Promise.resolve(shown("ComponentStatusList", list));
  }
  const found = items.find(({ metadata }) => metadata.name === info.name);
  if (found === undefined) throw notFound({ group: "", resource: "componentstatuses" }, info.name);
  return Promise.resolve(shown("ComponentStatus", found));
};

function storeStatus({ store }: Workshop): { readonly metadata: { readonly name: string } } {
  const { state, reason } = store.health();
  const condition =
    state === "ready"
      ? { type: "Healthy", status: "True", message: "ok" }
      : { type: "Healthy", status: "False", message: reason ?? "", error: reason ?? "" };
  const component = {
    apiVersion: "v1",
    kind: "ComponentStatus",
    metadata: { name: STORE },
    conditions: [condition],
  };
  return component;
}

function shown(kind: string, value: object): ObjectAnswer {
  const schema = findKindSchema("v1", kind);
  if (schema === undefined) throw new Error(`the published API has no ${kind}`);
  const object = toNormalForm(schema, value).value as unknown as ApiObject;
  return { type: "object", code: 200, object };
}
