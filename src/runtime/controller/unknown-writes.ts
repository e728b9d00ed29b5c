/**
 * Learns the outcome of writes whose response was lost, by reading their targets from the server. Until then a pass
 * that follows could write the same again.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Client, UnknownWrite, WriteResult } from "../../client/client.ts";
import { pauseUnlessAborted } from "../../client/retry.ts";
import type { KnownKinds } from "./kinds.ts";

const BACKOFF = { baseMs: 100, maxMs: 5000 };

export interface UnknownWritesParts {
  readonly client: Client;
  readonly kinds: KnownKinds;
  readonly loop: Loop;
}

/** Reads until the server answers. Rejects with the signal's reason. */
export async function findOutcomes(
  parts: UnknownWritesParts,
  write: UnknownWrite,
  signal: AbortSignal,
): Promise<readonly WriteResult[]> {
  const { loop } = parts;
  for (let failures = 0; ; failures++) {
    try {
      return await (write.name === undefined
        ? readCollection(parts, write, signal)
        : readTarget(parts, { ...write, name: write.name }, signal));
    } catch {
      signal.throwIfAborted();
      await pauseUnlessAborted(loop, backoffMs(failures, BACKOFF, loop.random("unknown-writes")), signal);
    }
  }
}

async function readTarget(
  { client }: UnknownWritesParts,
  { type, name, namespace }: UnknownWrite & { readonly name: string },
  signal: AbortSignal,
): Promise<readonly WriteResult[]> {
  const object = await client(type).find({ name, namespace }, { signal }).catch(absentIfNotServed);
  if (object !== undefined) return [{ type, object, outcome: "stored" }];
  const { apiVersion, kind } = type;
  return [{ type, object: { apiVersion, kind, metadata: { name, namespace } }, outcome: "absent" }];
}

/** A kind that is no longer served has no objects. */
function absentIfNotServed(error: unknown): undefined {
  if (!isApiError(error, "NotFound")) throw error;
  return undefined;
}

/** Reads metadata only. Objects that the cache held before the read and the server no longer has are absent. */
async function readCollection(
  { client, kinds }: UnknownWritesParts,
  { type, namespace }: UnknownWrite,
  signal: AbortSignal,
): Promise<readonly WriteResult[]> {
  const cached = kinds.cache(type).list(namespace === "" ? {} : { namespace });
  const results: WriteResult[] = [];
  const uids = new Set<string | undefined>();
  const place = namespace === "" ? {} : { namespace };
  for await (const { items } of client(type).pages({ ...place, form: "metadata", signal })) {
    for (const object of items) {
      results.push({ type, object, outcome: "stored" });
      uids.add(object.metadata.uid);
    }
  }
  const isAbsent = ({ metadata }: ApiObject): boolean => !uids.has(metadata.uid);
  for (const object of cached.filter(isAbsent)) results.push({ type, object, outcome: "absent" });
  return results;
}
