/**
 * Calls `act` for each item, with at most `width` calls in flight. After a failure no further call begins; the first
 * error is thrown.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && !hasFailed; next = rest.next()) {
      try {
        await act(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}
