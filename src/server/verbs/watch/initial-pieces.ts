/** What is there when a watch begins, piece by piece: of many objects each client gets some, and then others have their turn. */
import { type Entry, prefixEnd, type View } from "../../../store/store.ts";

/** Objects of one. */
export const INITIAL_PIECE = 500;

/** Some of what was there before a watch began. */
export interface InitialPiece {
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
}

/** None where a watch begins with what comes. */
export function* initialPieces(view: View | undefined, prefix: string): Generator<InitialPiece, undefined> {
  if (view === undefined) return undefined;
  let entries: Entry[] = [];
  for (const entry of rangeOf(view, prefix)) {
    if (entries.length === INITIAL_PIECE) {
      yield { entries, isLast: false };
      entries = [];
    }
    entries.push(entry);
  }
  yield { entries, isLast: true };
  return undefined;
}

function rangeOf(view: View, prefix: string): Iterable<Entry> {
  if (prefix.endsWith("/")) return view.range(prefix, prefixEnd(prefix));
  const entry = view.get(prefix);
  return entry === undefined ? [] : [entry];
}
