/** A value or a promise of it. A value continues synchronously: a promise costs more than most steps here. */
export type Soon<T> = T | Promise<T>;

export function whenDone<A, B>(value: Soon<A>, go: (value: A) => Soon<B>): Soon<B> {
  return value instanceof Promise ? value.then(go) : go(value);
}
