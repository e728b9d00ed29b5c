/** Deletes a pod if its disruption budget allows it (policy/v1 Eviction). */
import { badRequest, conflict, isApiError, notFound } from "../../../api/errors/api-error.ts";
import type { Pod } from "../../../api/generated/types/core-v1.ts";
import type { DeleteOptions } from "../../../api/generated/types/meta-v1.ts";
import type { Eviction } from "../../../api/generated/types/policy-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { timeText } from "../../../api/values/time.ts";
import { isTerminal } from "../../../resources/pod/pod-state.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import { callPass } from "../../admission/admission.ts";
import { groupResource } from "../../objects/registry.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Call } from "../../request/call.ts";
import { readObject } from "../../write/incoming.ts";
import { normal } from "../../write/incoming.ts";
import { ObjectWriter } from "../../write/object-writer.ts";
import type { Place } from "../../write/object-writer.ts";
import { isDryRun, writeOptionsOf } from "../../write/write-options.ts";
import { checkDeletable, removeOne } from "../delete.ts";
import type { DeleteTarget } from "../delete.ts";
import type { Verb } from "../verb.ts";
import type { Preconditions } from "../write-steps.ts";
import type { Disruption, EvictionParts } from "./disruption-budget.ts";
import { budgetOf, ignoresUnready, spendDisruption, stillProcessed } from "./disruption-budget.ts";
import { created } from "./success.ts";

/** Same as upstream's. */
const TRIES_MAX = 20;

export const evictPod: Verb = async (call, verbParts: EvictionParts) => {
  const { info, resource } = call;
  const sent = await readEviction(call);
  const pass = callPass({ call, verbParts }, "CREATE");
  const eviction = pass === undefined ? sent : await pass.admit(sent);
  const isTrial = writeOptionsOf(call).isDryRun || isDryRun(eviction.deleteOptions?.dryRun ?? []);
  const place = { resource, namespace: info.namespace, name: info.name };
  const target = { ...place, user: call.user, notes: call.notes, origin: call.origin };
  const options: DeleteOptions = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...eviction.deleteOptions,
    ...(isTrial && { dryRun: ["All"] }),
  };
  for (let tries = 1; (await attempt(target, options, verbParts)) === "overtaken"; tries++) {
    if (tries === TRIES_MAX) throw conflict(groupResource(resource), info.name);
  }
  return created();
};

async function attempt(
  target: DeleteTarget,
  options: DeleteOptions,
  verbParts: EvictionParts,
): Promise<"done" | "overtaken"> {
  const pod = await readPod(target, verbParts);
  const trial = { pod, isDryRun: isDryRun(options.dryRun ?? []), origin: target.origin };
  const { whenOvertaken } = await judge(trial, verbParts);
  if (whenOvertaken === undefined || options.preconditions?.resourceVersion !== undefined) {
    await evict(target, options, verbParts);
    return "done";
  }
  checkDeletable({ uid: options.preconditions?.uid, resourceVersion: undefined }, pod, target.resource);
  try {
    await evict(target, inVersionOf(pod, options), verbParts);
    return "done";
  } catch (error) {
    if (!isApiError(error, "Conflict")) throw error;
    if (whenOvertaken === "judge again") return "overtaken";
    throw whenOvertaken;
  }
}

/** How to proceed if the pod changes before its deletion. Undefined if the change makes no difference. */
interface Judgement {
  readonly whenOvertaken: "judge again" | Error | undefined;
}

/** A budget protects running pods. A pod that has ended, has not started or is being deleted needs no budget. */
async function judge(disruption: Disruption, verbParts: EvictionParts): Promise<Judgement> {
  const { pod } = disruption;
  if (isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) return { whenOvertaken: undefined };
  if (pod.status.phase === "Pending") return { whenOvertaken: "judge again" };
  const budget = budgetOf(pod, verbParts);
  if (budget === undefined) return { whenOvertaken: undefined };
  if (ignoresUnready(budget, pod)) return { whenOvertaken: stillProcessed(budget) };
  await spendDisruption(budget, disruption, verbParts);
  return { whenOvertaken: undefined };
}

function inVersionOf({ metadata }: Pod, options: DeleteOptions): DeleteOptions {
  const { resourceVersion = "" } = metadata as ApiObject["metadata"];
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

async function evict(target: DeleteTarget, options: DeleteOptions, verbParts: EvictionParts): Promise<void> {
  if (isDryRun(options.dryRun ?? [])) {
    await removeOne(target, options, verbParts);
    return;
  }
  const { preconditions } = options;
  const resourceVersion = await noteDisruption(target, preconditions, verbParts);
  // The note changes the resourceVersion, so the precondition moves on to the new one.
  const isNamed = preconditions?.resourceVersion !== undefined;
  const next = isNamed ? { ...options, preconditions: { ...preconditions, resourceVersion } } : options;
  await removeOne(target, next, verbParts);
}

async function readEviction(call: Call): Promise<Eviction> {
  const schema = findKindSchema("policy/v1", "Eviction");
  if (schema === undefined) throw new Error("the published API has no Eviction");
  const expected = { apiVersion: "policy/v1", kind: "Eviction", schema, formerVersion: "policy/v1beta1" };
  const { object } = await readObject(call, expected);
  if (object.metadata.name !== call.info.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  return object as Eviction;
}

async function readPod(
  { resource, namespace, name }: Place,
  { store, versions }: EvictionParts,
): Promise<Pod> {
  const entry = (await store.fresh()).get(keyOf(resource, namespace, name));
  if (entry === undefined) throw notFound(groupResource(resource), name);
  return versions.entry(entry, resource) as Pod;
}

/** Records the reason on the pod, for its owner to see. Returns the resourceVersion of that write. */
async function noteDisruption(
  place: DeleteTarget,
  { uid, resourceVersion }: Partial<Preconditions> = {},
  verbParts: EvictionParts,
): Promise<string> {
  const now = timeText(verbParts.loop.now());
  const options = { isDryRun: false, onConflict: "retry" } as const;
  const saved = await new ObjectWriter(verbParts, place.origin).update(place, options, (previous) => {
    checkDeletable({ uid, resourceVersion }, previous, place.resource);
    const draft = cloneJson(previous) as Draft<Pod>;
    delete (draft as Draft<ApiObject>).metadata.resourceVersion;
    const conditions = draft.status.conditions ?? [];
    const known = conditions.find(({ type }) => type === "DisruptionTarget");
    // The condition replaces an earlier reason but keeps its transition time.
    const condition = {
      lastTransitionTime: now,
      ...(known?.status === "True" && known),
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
    };
    const at = known === undefined ? conditions.length : conditions.indexOf(known);
    draft.status.conditions = conditions.toSpliced(at, 1, condition);
    return { outcome: "put", object: inNormalForm(draft, place.resource) };
  });
  const pod =
    saved.outcome === "stored" ? verbParts.versions.served(saved.stored, place.resource) : saved.object;
  return pod.metadata.resourceVersion ?? "";
}

function inNormalForm(draft: Draft<Pod>, { schema }: StoredResource): ApiObject {
  return normal(schema, draft).value as ApiObject;
}
