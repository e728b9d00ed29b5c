/** Causes of a routine's writes. A routine has no passes, so it states which object it looked at, and why it writes. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { causeText } from "../../api/causes/cause-text.ts";
import type { Cause, ObjectCause } from "../../api/causes/cause.ts";
import type { Client } from "../../client/client.ts";
import { groupOf } from "../refs/owner-reference.ts";

export interface StatedCause {
  /** Name of the routine. */
  readonly loop: string;
  readonly type: Pick<ResourceType, "apiVersion" | "kind">;
  /** The object that the routine looked at. */
  readonly object: { readonly metadata: Partial<ApiObject["metadata"]> };
  /** Why it writes; goes on after "saw OBJECT, which". */
  readonly note?: string;
  /** Reasons why it looked. Default: the object's version. */
  readonly reasons?: readonly Cause[];
}

/** The client, with the cause in each write. Its text is made for writes only. */
export function withCause(client: Client, stated: StatedCause): Client {
  return client.with({ cause: () => textOf(stated) });
}

/** The object at the version that a routine knows. A deleted object is `isGone`. */
export function objectCause({
  type,
  object: { metadata },
}: Pick<StatedCause, "type" | "object">): ObjectCause {
  const { namespace = "", name = "", resourceVersion = "" } = metadata;
  return {
    type: "object",
    group: groupOf(type.apiVersion),
    kind: type.kind,
    namespace,
    name,
    resourceVersion,
  };
}

function textOf({ loop, type, object, note, reasons }: StatedCause): string {
  const self = objectCause({ type, object });
  const { group, kind, namespace, name, resourceVersion } = self;
  const kept = reasons ?? (resourceVersion === "" ? [] : [self]);
  const { uid = name } = object.metadata;
  const pass = resourceVersion === "" ? `${loop}/${uid}/start` : `${loop}/${uid}-${resourceVersion}`;
  return causeText({ pass, subject: { group, kind, namespace, name }, note, kept, count: kept.length });
}
