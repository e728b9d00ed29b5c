/** A deletion of a pod that asks its disruption budget first (policy/v1 Eviction). */
import { badRequest, notFound } from "../../api/api-error.ts";
import { findKindSchema } from "../../api/built-in-schema.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import type { Eviction } from "../../api/generated/types/policy-v1.ts";
import { cloneJson } from "../../api/json-clone.ts";
import type { ApiObject, Draft } from "../../resources/kind-rules.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { callPass } from "../admission/call-pass.ts";
import type { Call, Verb, Workshop } from "../call.ts";
import { keyOf } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import { removeOne } from "../verbs/delete.ts";
import { readObject } from "../write/incoming.ts";
import { normal } from "../write/incoming.ts";
import { groupResource, ObjectWriter } from "../write/object-writer.ts";
import type { Place } from "../write/object-writer.ts";
import { timeText } from "../write/system-metadata.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import { budgetOf, spendDisruption, ignoresUnready } from "./disruption-budget.ts";
import { created } from "./success.ts";

export const evictPod: Verb = async (call, workshop) => {
  const { info, resource } = call;
  const sent = await readEviction(call);
  const pass = callPass({ call, workshop }, "CREATE");
  const eviction = pass === undefined ? sent : await pass.admit(sent);
  const isDryRun = writeOptionsOf(call).isDryRun || (eviction.deleteOptions?.dryRun ?? []).length > 0;
  const place = { resource, namespace: info.namespace, name: info.name };
  const pod = await readPod(place, workshop);
  const options: DeleteOptions = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...eviction.deleteOptions,
    ...(isDryRun && { dryRun: ["All"] }),
  };
  if (!isFreeToGo(pod)) await askBudget(pod, isDryRun, workshop);
  if (!isDryRun) await noteDisruption(place, workshop);
  await removeOne({ ...place, user: call.user, notes: call.notes }, options, workshop);
  return created();
};

async function readEviction({ request, query, info }: Call): Promise<Eviction> {
  const schema = findKindSchema("policy/v1", "Eviction");
  if (schema === undefined) throw new Error("the published API has no Eviction");
  const { object } = await readObject(request, { apiVersion: "policy/v1", kind: "Eviction", schema }, query);
  if (object.metadata.name !== info.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  return object as Eviction;
}

async function readPod({ resource, namespace, name }: Place, { store, versions }: Workshop): Promise<Pod> {
  const entry = (await store.fresh()).get(keyOf(resource, namespace, name));
  if (entry === undefined) throw notFound(groupResource(resource), name);
  return versions.entry(entry, resource) as Pod;
}

/** A budget is about pods that run: one that ended, has not begun or is going anyway disturbs nobody. */
function isFreeToGo(pod: Pod): boolean {
  return isTerminal(pod) || pod.status.phase === "Pending" || pod.metadata.deletionTimestamp !== undefined;
}

async function askBudget(pod: Pod, isDryRun: boolean, workshop: Workshop): Promise<void> {
  const budget = budgetOf(pod, workshop);
  if (budget === undefined || ignoresUnready(budget, pod)) return;
  await spendDisruption(budget, { pod, isDryRun }, workshop);
}

/** So that whoever owns the pod sees why it went. */
async function noteDisruption(place: Place, workshop: Workshop): Promise<void> {
  const now = timeText(workshop.loop.now());
  await new ObjectWriter(workshop).update(place, { isDryRun: false, onConflict: "retry" }, (previous) => {
    const draft = cloneJson(previous) as Draft<Pod>;
    delete (draft as Draft<ApiObject>).metadata.resourceVersion;
    const conditions = draft.status.conditions ?? [];
    const known = conditions.find(({ type }) => type === "DisruptionTarget");
    if (known?.status === "True") return { outcome: "unchanged" };
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
      lastTransitionTime: now,
    };
    draft.status.conditions = [...conditions.filter((each) => each !== known), condition];
    return { outcome: "put", object: settled(draft, place.resource) };
  });
}

function settled(draft: Draft<Pod>, { schema }: StoredResource): ApiObject {
  return normal(schema, draft).value as unknown as ApiObject;
}
