/** `Change` of `causes.setpoint.dev`: one write of one object, with its author and cause. Read-only. */
import type { ApiObject } from "../api-object.ts";
import type { FieldChange } from "./field-changes.ts";

export const CAUSES_GROUP = "causes.setpoint.dev";
export const CAUSES_VERSION = `${CAUSES_GROUP}/v1`;

export interface ObjectReference {
  readonly group: string;
  readonly kind: string;
  /** Plural name; empty for a kind that is not served. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object that the user may not read. */
export interface HiddenObject {
  readonly hidden: true;
}

export type ShownObject = ObjectReference | HiddenObject;

export type Operation = "Created" | "Updated" | "Deleted";

export interface ChangeAuthor {
  /** Absent when only the managed fields name the author. */
  readonly user?: string;
  /** Field manager. */
  readonly manager?: string;
  readonly userAgent?: string;
  /** Command of kubectl, for example `kubectl scale`. */
  readonly command?: string;
  /** Id of the request in the audit log. */
  readonly auditId?: string;
}

export interface ChangeReason {
  /** `Object`: it changed, or existed at the start. `Timer`: the previous pass asked for another. */
  readonly type: "Object" | "Timer" | "Resync" | "Retry";
  readonly object?: ShownObject;
  readonly resourceVersion?: string;
  /** The object was deleted. */
  readonly deleted?: true;
  readonly attempt?: number;
}

export interface PassWrite {
  readonly revision: string;
  readonly object: ShownObject;
}

/** The pass of a controller that made the change. */
export interface ChangePass {
  readonly id: string;
  /** Object that the pass reconciled. */
  readonly subject?: ShownObject;
  readonly note?: string;
  /** Reasons why the pass ran, at most eight. */
  readonly reasons: readonly ChangeReason[];
  readonly reasonCount: number;
  /** Other writes of the pass, as far as they are remembered; at most 16. */
  readonly otherWrites: readonly PassWrite[];
  readonly otherWriteCount: number;
}

export interface ShownFieldChange extends FieldChange {
  /** The values are not shown: they are secret or too large. */
  readonly withheld?: "Secret" | "Large";
}

export interface Change extends ApiObject {
  readonly revision: string;
  /** Time of the write. Absent when no server remembers it. */
  readonly time?: string;
  readonly operation: Operation;
  readonly object: ObjectReference & { readonly uid?: string };
  /** Absent when the author is not known. */
  readonly author?: ChangeAuthor;
  readonly pass?: ChangePass;
  /** Absent when the history no longer has the states. */
  readonly fields?: readonly ShownFieldChange[];
}

/** The newest revision at a time, which is the name of the object. */
export interface Revision extends ApiObject {
  readonly revision: string;
  /** Time of its write. */
  readonly time: string;
}

export interface ChangeList {
  readonly metadata: { readonly continue?: string };
  /** Oldest first. */
  readonly items: readonly Change[];
  /** Why older changes are missing. Absent when the list is complete. */
  readonly cut?: string;
  /** Revision after which this server remembers the authors of its writes. */
  readonly authorsSince: string;
}
