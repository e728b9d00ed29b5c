/** Splits the existing objects of a new watch into pieces, so that watches of many objects take turns. */
import { type Entry, prefixEnd, type View } from "../../../store/store.ts";

/** Objects in one piece. */
export const INITIAL_PIECE = 500;

/** A piece of the objects that existed when a watch began. */
export interface InitialPiece {
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
}

/** Yields nothing for a watch that begins with changes. */
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
