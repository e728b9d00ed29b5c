/**
 * A value or a promise of it, for stages of a request and small reads: a value continues synchronously, because a promise
 * costs more than most of these steps. A function that mostly waits is plainly async.
 */
export type MaybePromise<T> = T | Promise<T>;

export function whenDone<A, B>(value: MaybePromise<A>, go: (value: A) => MaybePromise<B>): MaybePromise<B> {
  return value instanceof Promise ? value.then(go) : go(value);
}
