/** The verb watch: sends every change after a revision, filtered by selectors. */
import { badRequest } from "../../../api/errors/api-error.ts";
import { requiredFieldValue } from "../../../api/selectors/field-selector.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Entry, View } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { WatchAnswer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { listOptionsOf } from "../read/list-options.ts";
import type { ListOptions } from "../read/list-options.ts";
import type { ReadParts } from "../read/list.ts";
import { selectedEntries } from "../read/selected-entries.ts";
import type { WatchParts } from "./open-watch.ts";
import { StoreWatchEvents } from "./watch-events.ts";
import { findStartPoint } from "./watch-start.ts";

export async function watch(
  call: Call<StoredResource>,
  verbParts: WatchParts & Pick<ReadParts, "loop" | "indexes">,
): Promise<WatchAnswer> {
  const { resource, query } = call;
  const options = listOptionsOf(query, resource.facts, "watch");
  requireOwnName(call.info.name, options);
  const prefix = watchedPrefix(call, options);
  const { existing, after, failure } = await findStartPoint(options, verbParts);
  const { labels, fields, allowBookmarks, sendInitialEvents, timeoutSeconds } = options;
  verbParts.selectors.requireRoom(options);
  const rules = {
    after,
    allowsBookmarks: allowBookmarks,
    marksInitialEnd: allowBookmarks && sendInitialEvents === true,
  };
  const events = new StoreWatchEvents(
    { call, parts: verbParts, rules, timeoutSeconds, failure },
    {
      existing: existing && (await existingObjects(existing, { prefix, options, resource }, verbParts)),
      prefix,
      selectors: { labels, fields },
    },
  );
  return { type: "watch", resource, events };
}

/** On an object's own path the field selector may select only that object. */
function requireOwnName(name: string, { fields }: ListOptions): void {
  if (name === "" || fields.terms.length === 0) return;
  if (requiredFieldValue(fields, "metadata.name") !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** A watch of a single object uses its key as the prefix. Changes of other objects then cost nothing. */
function watchedPrefix({ resource, info }: Call<StoredResource>, { fields }: ListOptions): string {
  const name = info.name === "" ? requiredFieldValue(fields, "metadata.name") : info.name;
  const isOne = name !== undefined && name !== "" && (info.namespace !== "" || !resource.facts.namespaced);
  return isOne ? keyOf(resource, info.namespace, name) : prefixOf(resource, info.namespace);
}

interface Watched {
  readonly prefix: string;
  readonly options: ListOptions;
  readonly resource: StoredResource;
}

/** Objects that the watch sends first, found by an index where one fits. */
async function existingObjects(
  view: View,
  { prefix, options, resource }: Watched,
  { indexes }: Pick<ReadParts, "indexes">,
): Promise<Iterable<Entry>> {
  if (!prefix.endsWith("/")) return [view.get(prefix)].filter((entry) => entry !== undefined);
  const range = { from: prefix, to: prefixEnd(prefix) };
  return (await selectedEntries(options, { resource, view, range }, indexes)).entries;
}
