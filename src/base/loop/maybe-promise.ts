/** A value or a promise of it. A value continues synchronously: a promise costs more than most steps here. */
export type MaybePromise<T> = T | Promise<T>;

export function whenDone<A, B>(value: MaybePromise<A>, go: (value: A) => MaybePromise<B>): MaybePromise<B> {
  return value instanceof Promise ? value.then(go) : go(value);
}
