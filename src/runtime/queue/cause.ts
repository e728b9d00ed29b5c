/** Why a key is looked at: a bounded set, kept for people who ask why something happened. A reconcile itself never sees it. */

export type Cause =
  /** An object has changed, or is there at the start. */
  | {
      readonly type: "object";
      readonly kind: string;
      readonly namespace: string;
      readonly name: string;
      readonly resourceVersion: string;
    }
  /** The pass before asked for it (`recheckAfterMs`). */
  | { readonly type: "timer" }
  | { readonly type: "resync" }
  /** The pass before failed. */
  | { readonly type: "retry"; readonly attempt: number };

/** Enough to see what is going on; a key that a thousand pods concern must not remember all of them. */
const KEPT_MAX = 8;

export interface Causes {
  readonly kept: readonly Cause[];
  /** How many there were in all. */
  readonly count: number;
}

export class CauseSet implements Causes {
  readonly kept: Cause[] = [];
  count = 0;

  /** A newer revision of an object takes the place of the older one. */
  add(cause: Cause): void {
    this.count++;
    for (let at = 0; at < this.kept.length; at++) {
      const known = this.kept[at];
      if (known !== undefined && isOfSame(known, cause)) {
        this.kept[at] = cause;
        return;
      }
    }
    if (this.kept.length < KEPT_MAX) this.kept.push(cause);
  }
}

function isOfSame(known: Cause, cause: Cause): boolean {
  if (known.type !== cause.type) return false;
  if (known.type !== "object" || cause.type !== "object") return true;
  return known.name === cause.name && known.namespace === cause.namespace && known.kind === cause.kind;
}
