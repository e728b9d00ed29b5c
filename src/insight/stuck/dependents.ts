/** Objects that a workload waits for: its newest ReplicaSet, its pods that are not ready, and the pods of a Service. */
import type { ApiObject } from "../../api/api-object.ts";
import { ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { Job } from "../../api/generated/types/batch-v1.ts";
import { Pod, Service } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";
import { objectState } from "../state/object-state.ts";
import type { FactReader } from "./fact-reader.ts";
import { selectedBy } from "./service.ts";
import { asKind } from "./situation.ts";
import type { Subject } from "./situation.ts";

/** Waiting pods of one workload wait for few different reasons. */
const LOOKED_AT = 8;

export async function waitingDependents(
  reader: FactReader,
  subject: Subject,
  now: number,
): Promise<readonly Subject[]> {
  const dependents = await dependentsOf(reader, subject);
  const isJob = asKind(subject, Job) !== undefined;
  return dependents
    .filter(({ object }) => !objectState(object, now).isSettled || (isJob && hasFailed(object)))
    .slice(0, LOOKED_AT);
}

function hasFailed(object: ApiObject): boolean {
  return (object as { readonly status?: { readonly phase?: string } }).status?.phase === "Failed";
}

async function dependentsOf(reader: FactReader, subject: Subject): Promise<readonly Subject[]> {
  const { namespace = "", uid } = subject.object.metadata;
  const asPod = (object: Pod): Subject => ({ object, type: Pod });
  const service = asKind(subject, Service);
  if (service !== undefined) return selectedBy(service, await reader.list(Pod, { namespace })).map(asPod);
  const selector = selectorOf(subject.object);
  if (selector === undefined) return [];
  const options = { namespace, labelSelector: labelSelectorText(compileLabelSelector(selector)) };
  const isOwnedBy =
    (uids: ReadonlySet<string | undefined>) =>
    ({ metadata }: ApiObject): boolean =>
      metadata.ownerReferences?.some((each) => uids.has(each.uid)) === true;
  const [allSets, allPods] = await Promise.all([
    subject.type.kind === "Deployment" ? reader.list(ReplicaSet, options) : [],
    reader.list(Pod, options),
  ]);
  const sets = allSets.filter(isOwnedBy(new Set([uid])));
  const pods = allPods.filter(isOwnedBy(new Set([uid, ...sets.map(({ metadata }) => metadata.uid)])));
  return [...sets.map((object): Subject => ({ object, type: ReplicaSet })), ...pods.map(asPod)];
}

function selectorOf({
  apiVersion,
  spec,
}: ApiObject & { readonly spec?: { readonly selector?: LabelSelector } }): LabelSelector | undefined {
  return /^(apps|batch)\//.test(apiVersion) ? spec?.selector : undefined;
}
