/** The promise behind `Store.ended`, and the functions that settle it. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createDeferred(): Deferred {
  let resolve = (): void => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Prevents an unhandled rejection, which would end the process, when no caller awaits the promise.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
