/** Objects that a workload waits for: its newest ReplicaSet, and its pods that are not ready. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";
import type { Client } from "../../client/client.ts";
import { objectState } from "../state/object-state.ts";
import type { Subject } from "./gather-situation.ts";

/** Waiting pods of one workload wait for few different reasons. */
const LOOKED_AT = 8;
const READ_MAX = 500;

export async function waitingDependents(
  client: Client,
  subject: Subject,
  now: number,
): Promise<readonly Subject[]> {
  const selector = selectorOf(subject.object);
  if (selector === undefined) return [];
  const owned = { client, subject, labelSelector: labelSelectorText(compileLabelSelector(selector)) };
  const sets = subject.type.kind === "Deployment" ? await ownedBy(owned, ReplicaSet, subject.object) : [];
  const owners = [subject.object, ...sets];
  const pods = (await Promise.all(owners.map(async (owner) => await ownedBy(owned, Pod, owner)))).flat();
  const waiting = [
    ...sets.map((object): Subject => ({ object, type: ReplicaSet })),
    ...pods.map((object): Subject => ({ object, type: Pod })),
  ].filter(({ object }) => !objectState(object, now).isSettled);
  return waiting.slice(0, LOOKED_AT);
}

function selectorOf({
  apiVersion,
  spec,
}: ApiObject & { readonly spec?: { readonly selector?: LabelSelector } }): LabelSelector | undefined {
  return /^(apps|batch)\//.test(apiVersion) ? spec?.selector : undefined;
}

async function ownedBy<T extends ApiObject>(
  {
    client,
    subject,
    labelSelector,
  }: { readonly client: Client; readonly subject: Subject; readonly labelSelector: string },
  type: ResourceType<T>,
  owner: ApiObject,
): Promise<readonly T[]> {
  try {
    const { namespace = "" } = subject.object.metadata;
    const { items } = await client(type).list({ namespace, labelSelector, limit: READ_MAX });
    return items.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid),
    );
  } catch (error) {
    if (isApiError(error, "Forbidden")) return [];
    throw error;
  }
}
