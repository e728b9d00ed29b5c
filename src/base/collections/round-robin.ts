/**
 * A queue that several owners share in rounds: one item of each owner, then the next of each. Owners form groups, and a
 * group counts as one owner beside the other groups. The path of an owner names its groups, the outermost first.
 *
 * Example: after pushes of a1 and a2 for ["a", "1"], a3 for ["a", "2"], b1 and b2 for ["b", "1"]
 * `shift` returns a1, b1, a3, b2, a2.
 */
import { Fifo } from "../loop/loop-fifo.ts";

/** A group, or the items of one owner. */
interface Member<T> {
  readonly key: string;
  length: number;
  readonly members: Map<string, Member<T>>;
  /** The members in the order of their next turns. One that a drop has emptied stays until its turn. */
  readonly order: Fifo<Member<T>>;
  readonly items: Fifo<T>;
}

export class RoundRobin<T> {
  readonly #all: Member<T> = member("");

  get length(): number {
    return this.#all.length;
  }

  push(path: readonly string[], item: T): void {
    let group = this.#all;
    group.length += 1;
    for (const key of path) {
      group = memberOf(group, key);
      group.length += 1;
    }
    group.items.push(item);
  }

  /** The next item of the owner whose turn it is. */
  shift(): T | undefined {
    return taken(this.#all);
  }

  /** Removes the newest item of the longest queue: the longest group, and the longest owner in it. */
  dropFromLongest(): T | undefined {
    if (this.#all.length === 0) return undefined;
    let longest = this.#all;
    longest.length -= 1;
    while (longest.members.size > 0) {
      longest = longestOf(longest.members.values());
      longest.length -= 1;
    }
    return longest.items.pop();
  }
}

function member<T>(key: string): Member<T> {
  return { key, length: 0, members: new Map(), order: new Fifo(), items: new Fifo() };
}

function memberOf<T>(group: Member<T>, key: string): Member<T> {
  const known = group.members.get(key);
  if (known !== undefined) return known;
  const made = member<T>(key);
  group.members.set(key, made);
  group.order.push(made);
  return made;
}

function taken<T>(group: Member<T>): T | undefined {
  if (group.length === 0) return undefined;
  group.length -= 1;
  if (group.members.size === 0) return group.items.shift();
  for (;;) {
    const next = group.order.shift();
    if (next === undefined) return undefined;
    const item = taken(next);
    if (next.length > 0) group.order.push(next);
    else group.members.delete(next.key);
    if (item !== undefined) return item;
  }
}

function longestOf<T>(members: Iterable<Member<T>>): Member<T> {
  let longest: Member<T> | undefined;
  for (const each of members) if (longest === undefined || each.length > longest.length) longest = each;
  if (longest === undefined) throw new Error("a group has members");
  return longest;
}
