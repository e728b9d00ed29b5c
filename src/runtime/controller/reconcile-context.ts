/**
 * Builds the `ReconcileContext` of a pass: the caches, a client that writes in the controller's name, and the shared
 * operations.
 */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import type { Client } from "../../client/client.ts";
import type { EventSink } from "../events/event-correlation.ts";
import { applyChildren, type AppliedManifests } from "./children.ts";
import { claim } from "./claim.ts";
import type { ControllerDefinition, ReconcileContext } from "./controller.ts";
import { kindId, type KnownKinds } from "./kinds.ts";
import type { PassCause } from "./pass-cause.ts";
import type { StatusWriter } from "./status-writer.ts";

export interface PassParts {
  readonly definition: ControllerDefinition<ApiObject>;
  readonly kinds: KnownKinds;
  readonly loop: Loop;
  readonly recorder: EventSink;
  readonly statuses: StatusWriter;
  readonly applied: AppliedManifests;
}

export interface Pass {
  readonly key: ObjectKey;
  /** Undefined when the object is gone. */
  readonly object: ApiObject | undefined;
  /** Client with the field manager, cause and signal of this pass. */
  readonly client: Client;
  readonly cause: PassCause;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function reconcileContext(parts: PassParts, pass: Pass): ReconcileContext {
  const { definition, kinds, loop, recorder, statuses, applied } = parts;
  const { key, client, cause, log, signal } = pass;
  const typeOf = async (object: ApiObject): Promise<ResourceType> => {
    const type =
      kinds.findType(object.apiVersion, object.kind) ??
      (await client.findType(object.apiVersion, object.kind));
    if (type === undefined) throw new Error(`the kind ${kindId(object)} is not served`);
    return type;
  };
  return {
    key,
    cache: kinds.read,
    client,
    clock: { now: () => loop.now() },
    random: loop.random("reconcile"),
    inTurns: (work) => runInTurns(work, loop, "loop"),
    log,
    signal,
    because: (note) => {
      cause.note = note;
    },
    event: (about, event) => recorder.record({ component: definition.name, about, event }),
    claim: (type, owner, choice) =>
      claim({
        owner,
        ...("accepts" in choice ? choice : { selector: choice }),
        cache: kinds.cache(type),
        client: client(type),
        readOwner: async () => await client(await typeOf(owner)).find(owner),
      }),
    children: async (declared) => {
      if (pass.object === undefined)
        throw new Error("the reconciled object is gone: it cannot have children");
      const { owns = [], name: manager } = definition;
      return await applyChildren({ owner: pass.object, owns, kinds, client, manager, applied }, declared);
    },
    updateStatus: async (object, status) => {
      const type = (await typeOf(object)) as ResourceType<typeof object>;
      return await statuses.write(client(type), object, status);
    },
  };
}
