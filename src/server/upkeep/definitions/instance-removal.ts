/** Deletes the objects of a kind whose definition is deleted, then removes the definition. */
import { isApiError } from "../../../api/errors/api-error.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from "../../../api/generated/types/apiextensions-v1.ts";
import { timeText } from "../../../api/values/time.ts";
import { CLEANUP_FINALIZER } from "../../../resources/definitions/custom-resource-definition.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { prefixOf } from "../../objects/versions.ts";
import { removeOne } from "../../verbs/delete.ts";
import type { WriteParts } from "../../verbs/writing.ts";
import { ObjectWriter } from "../../write/object-writer.ts";
import type { Place } from "../../write/object-writer.ts";
import { SERVER_ORIGIN } from "../../write/write-call.ts";
import { withConditions } from "./name-plan.ts";

/** Objects deleted in one piece. Then the loop runs other work. */
const PIECE = 200;

const IN_PROGRESS = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

export interface RemovalTarget {
  /** Place of the definition. */
  readonly place: Place;
  /** `undefined` when the kind was never served. */
  readonly instances: StoredResource | undefined;
}

/** `more`: call again. `waiting`: finalizers hold the remaining objects. */
export type RemovalOutcome = "done" | "more" | "waiting";

export class InstanceRemoval {
  readonly #verbParts: WriteParts;

  constructor(verbParts: WriteParts) {
    this.#verbParts = verbParts;
  }

  async remove(
    definition: CustomResourceDefinition,
    { place, instances }: RemovalTarget,
  ): Promise<RemovalOutcome> {
    if (definition.metadata.finalizers?.includes(CLEANUP_FINALIZER) !== true) return "done";
    const left = instances === undefined ? "none" : await this.#removePiece(instances);
    if (left === "none") {
      await this.#change(place, released);
      return "done";
    }
    await this.#change(place, (object) => this.#marked(object));
    return left === "more" ? "more" : "waiting";
  }

  async #removePiece(resource: StoredResource): Promise<"none" | "more" | "held"> {
    const prefix = prefixOf(resource, "");
    let held = 0;
    let asked = 0;
    for (const entry of this.#verbParts.store.accepted.range(prefix, prefixEnd(prefix))) {
      const { metadata } = StoredObject.of(entry).object;
      if (metadata.deletionTimestamp !== undefined) {
        held += 1;
        continue;
      }
      if (asked === PIECE) return "more";
      asked += 1;
      await this.#removeOne({ resource, namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
    }
    if (asked > 0) return "more";
    return held === 0 ? "none" : "held";
  }

  /** Skips admission: the author's webhooks are often gone already, and would block the removal forever. */
  async #removeOne(place: Place): Promise<void> {
    const target = { ...place, consent: "unasked", origin: SERVER_ORIGIN } as const;
    try {
      await removeOne(target, { apiVersion: "v1", kind: "DeleteOptions" }, this.#verbParts);
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }

  /** Bypasses the verbs: a definition that newer rules refuse must still be removable. */
  async #change(place: Place, change: (object: Definition) => ApiObject): Promise<void> {
    const options = { isDryRun: false, onConflict: "retry" } as const;
    try {
      await new ObjectWriter(this.#verbParts, SERVER_ORIGIN).update(place, options, (previous) => ({
        outcome: "put",
        object: change(previous as Definition),
      }));
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }

  #marked(object: Definition): ApiObject {
    const { status } = object;
    const now = timeText(this.#verbParts.loop.now());
    const conditions: readonly CustomResourceDefinitionCondition[] = withConditions(
      status.conditions,
      [IN_PROGRESS],
      now,
    );
    return conditions === status.conditions
      ? object
      : ({ ...object, status: { ...status, conditions } } as ApiObject);
  }
}

type Definition = CustomResourceDefinition;

function released(object: Definition): ApiObject {
  const { finalizers = [], ...metadata } = object.metadata;
  const others = finalizers.filter((name) => name !== CLEANUP_FINALIZER);
  return { ...object, metadata: { ...metadata, ...(others.length > 0 && { finalizers: others }) } };
}
