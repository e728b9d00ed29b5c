/** Events that a watcher delivers, in order. None is lost and none comes twice. */

export type WatcherEvent<T> =
  /** A complete new state: objects that it lacks are deleted. */
  | { readonly type: "reset"; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** Changes that arrived together, in the server's order. */
  | {
      readonly type: "changes";
      readonly changes: readonly WatcherChange<T>[];
      readonly resourceVersion: string;
    }
  /** Nothing else changed up to this version. */
  | { readonly type: "progress"; readonly resourceVersion: string };

export interface WatcherChange<T> {
  /** A deletion carries the last state of the object. */
  readonly type: "put" | "delete";
  readonly object: T;
}
