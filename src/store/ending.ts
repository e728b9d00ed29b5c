/** The promise behind `Store.ended`, with the means to settle it. */
export interface Ending {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createEnding(): Ending {
  let resolve = (): void => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Whoever cares awaits it; a store that nobody watches must not end the process by an unhandled rejection.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
