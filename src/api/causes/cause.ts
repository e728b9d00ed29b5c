/** The cause of a write: the pass of a controller that made it, and the reasons why that pass ran. */

/** An object as a cause names it. Group and namespace are empty for the core group and for cluster-scoped objects. */
export interface ObjectName {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object changed, or existed at the start. */
export interface ObjectCause extends ObjectName {
  readonly type: "object";
  /** Version that was seen; the last one before it for a deleted object. */
  readonly resourceVersion: string;
  /** The object is deleted. */
  readonly isGone?: true;
}

/** A reason why a pass ran. */
export type Cause =
  | ObjectCause
  /** The previous pass asked for it (`recheckAfterMs`). */
  | { readonly type: "timer" }
  | { readonly type: "resync" }
  /** The previous pass failed. */
  | { readonly type: "retry"; readonly attempt: number };

/** The reasons of one pass. */
export interface Causes {
  /** The newest cause of each object, at most eight. */
  readonly kept: readonly Cause[];
  /** Number of all causes, including those not kept. */
  readonly count: number;
}

/** The cause of a write, as its author states it. */
export interface WriteCause extends Causes {
  /** Id of the pass. */
  readonly pass: string;
  /** Object that the pass reconciles. */
  readonly subject: ObjectName | undefined;
  /** Reason for the decision in a few words, for people. */
  readonly note: string | undefined;
}
