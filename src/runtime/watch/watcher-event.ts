/** What a watcher tells of a kind, in an order in which nothing is lost and nothing comes twice. */

export type WatcherEvent<T> =
  /** The whole of a new state: what is not in it is gone. */
  | { readonly type: "reset"; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** What came together, in the order of the server. */
  | {
      readonly type: "changes";
      readonly changes: readonly WatcherChange<T>[];
      readonly resourceVersion: string;
    }
  /** Nothing changed up to here. */
  | { readonly type: "progress"; readonly resourceVersion: string };

export interface WatcherChange<T> {
  /** A deletion comes with the last state of the object. */
  readonly type: "put" | "delete";
  readonly object: T;
}
