/**
 * Reasons why a key was queued: a bounded set, for people who ask why something happened. A reconcile never sees
 * them.
 */
import type { Cause, Causes } from "../../api/causes/cause.ts";

/** Enough to explain a pass; a key that a thousand pods concern must not keep all of them. */
const KEPT_MAX = 8;

export class CauseSet implements Causes {
  readonly kept: Cause[] = [];
  count = 0;

  /** A newer revision of an object replaces the older one. */
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
