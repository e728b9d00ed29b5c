/** The items in arrays of `size`; the last one may be shorter. Reads the items as the pieces are read. */
export function* piecesOf<T>(items: Iterable<T>, size: number): Generator<readonly T[], undefined> {
  let piece: T[] = [];
  for (const item of items) {
    if (piece.length === size) {
      yield piece;
      piece = [];
    }
    piece.push(item);
  }
  if (piece.length > 0) yield piece;
  return undefined;
}
