/** The resources that an open watch holds until it closes. */
import type { Entry, Store, Watch } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import type { Call } from "../../request/call.ts";
import { scopeOf } from "../../request/parse-request.ts";
import type { LongRunningLabels, OpenRequest, RequestCounts } from "../../request/request-counts.ts";
import type { ObjectFilter } from "../read/object-filter.ts";
import { ConversionGate } from "./conversion-gate.ts";
import type { OpenSelectors, Selectors } from "./open-selectors.ts";
import { StoreEntries, type WatchedEntries } from "./watched-entries.ts";

/** Parts of the server that a watch uses. */
export interface WatchParts {
  readonly store: Store;
  readonly versions: Versions;
  /** Counts the open watches. */
  readonly tally: RequestCounts;
  readonly selectors: OpenSelectors;
}

export interface OpenWatchOptions {
  /** A key, or a prefix that ends with "/". */
  readonly prefix: string;
  /** Objects that are sent first, read once; undefined for a watch that begins with changes. */
  readonly existing: Iterable<Entry> | undefined;
  readonly after: number;
  readonly selectors: Selectors;
  readonly call: Call<StoredResource>;
}

export interface WatchListeners {
  /** Called synchronously when entries may be available. */
  readonly onReady: () => void;
  readonly onLeft: () => void;
  readonly onKindEnded: () => void;
}

export class OpenWatch {
  readonly entries: WatchedEntries;
  readonly filter: ObjectFilter | undefined;
  readonly counted: OpenRequest;
  readonly #parts: WatchParts;
  readonly #watching: Watch;
  /** Shared with other watches. */
  readonly #selectors: Selectors;
  readonly #unlisten: () => void;

  /** Throws the store's errors, and an ApiError when there is no room for the selectors. Then it holds nothing. */
  constructor(options: OpenWatchOptions, parts: WatchParts, listeners: WatchListeners) {
    const { call, prefix, after } = options;
    const { store, selectors, versions, tally } = parts;
    this.#parts = parts;
    this.#watching = store.watch({ prefix, after });
    try {
      this.#selectors = selectors.hold(options.selectors);
    } catch (error) {
      this.#watching.close();
      throw error;
    }
    this.filter = selectors.filter(this.#selectors, call.resource, versions);
    this.entries = entriesOf(this.#watching, options, { versions, onAnswer: listeners.onReady });
    this.counted = tally.stayOpen(labelsOf(call));
    this.#unlisten = listen(call, listeners);
    this.#watching.whenReady(listeners.onReady);
  }

  /** Called once. */
  close(): void {
    this.#unlisten();
    this.#watching.close();
    this.counted.ended();
    this.#parts.selectors.release(this.#selectors);
  }
}

function entriesOf(
  watching: Watch,
  { existing, call: { resource } }: OpenWatchOptions,
  { versions, onAnswer }: { readonly versions: Versions; readonly onAnswer: () => void },
): WatchedEntries {
  const entries = new StoreEntries(watching, existing);
  if (resource.custom?.webhook === undefined) return entries;
  return new ConversionGate(entries, (objects) => versions.readyToShow(objects, resource), onAnswer);
}

/** Listens for the end of the request and of the kind. The returned function removes the listeners. */
function listen(
  { request, resource }: Call<StoredResource>,
  { onLeft, onKindEnded }: WatchListeners,
): () => void {
  request.signal.addEventListener("abort", onLeft, { once: true });
  resource.ended?.addEventListener("abort", onKindEnded, { once: true });
  return () => {
    request.signal.removeEventListener("abort", onLeft);
    resource.ended?.removeEventListener("abort", onKindEnded);
  };
}

function labelsOf({ info }: Call): LongRunningLabels {
  const { group, version, resource, subresource } = info;
  return { verb: "WATCH", group, version, resource, subresource, scope: scopeOf(info) };
}
