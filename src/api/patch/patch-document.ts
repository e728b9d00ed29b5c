/**
 * The document that a JSON Patch changes. Containers of the input are copied on the first write and then changed in
 * place. Ten thousand operations on one large list therefore copy it once.
 */
import { isJsonObject, setOwn } from "../json/json-object.ts";
import { JSON_DEPTH_MAX } from "../json/json-scan.ts";
import { stringifyJson } from "../json/json-text.ts";
import { jsonEqual } from "./json-equal.ts";
import { PatchFailure, FailedTest } from "./patch-error.ts";

type Container = Record<string, unknown> | unknown[];

/**
 * Maximum number of list elements shifted and members compared in one patch: less than 100 ms of work. Only malicious
 * patches reach it, for example thousands of insertions at the front of a list of 100,000.
 */
const WORK_MAX = 5_000_000;
/** Shifting an element costs about a sixteenth of comparing a member. */
const SHIFTS_PER_WORK = 16;

export class PatchDocument {
  #root: unknown;
  readonly #copyBytesMax: number;
  /** Containers created by this patch, to which no other code has a reference. */
  readonly #owned = new Set<unknown>();
  #copiedBytes = 0;
  #work = 0;

  constructor(root: unknown, copyBytesMax: number) {
    this.#root = root;
    this.#copyBytesMax = copyBytesMax;
  }

  /** The patched value. */
  finish(): unknown {
    if (isDeeper(this.#root, JSON_DEPTH_MAX)) throw new PatchFailure("exceeded max depth");
    return this.#root;
  }

  add(path: string, value: unknown): void {
    const parent = this.#writableParent(path);
    if (parent === undefined) {
      throw new PatchFailure(`add operation does not apply: doc is missing path: "${path}": missing value`);
    }
    this.#insert(parent, lastKey(path), { value, failure: `error in add for path: '${path}'` });
  }

  remove(path: string): void {
    const parent = this.#writableParent(path);
    if (parent === undefined) {
      throw new PatchFailure(
        `remove operation does not apply: doc is missing path: "${path}": missing value`,
      );
    }
    this.#delete(parent, lastKey(path), `error in remove for path: '${path}'`);
  }

  replace(path: string, value: unknown): void {
    if (path === "") return this.#replaceRoot(value);
    const parent = this.#writableParent(path);
    if (parent === undefined) {
      throw new PatchFailure(`replace operation does not apply: doc is missing path: ${path}: missing value`);
    }
    const key = lastKey(path);
    if (!Array.isArray(parent)) return setOwn(parent, key, value);
    const at = findIndex(parent, key);
    if (at === undefined) {
      throw new PatchFailure(`replace operation does not apply: doc is missing key: ${path}: missing value`);
    }
    parent[at] = value;
  }

  move(from: string, path: string): void {
    const source = this.#writableParent(from);
    if (source === undefined) {
      throw new PatchFailure(
        `move operation does not apply: doc is missing from path: ${from}: missing value`,
      );
    }
    const key = lastKey(from);
    const value = readMember(source, key, `error in move for path: '${key}'`);
    this.#delete(source, key, `error in move for path: '${key}'`);
    const target = this.#writableParent(path);
    if (target === undefined) {
      throw new PatchFailure(
        `move operation does not apply: doc is missing destination path: ${path}: missing value`,
      );
    }
    this.#insert(target, lastKey(path), { value, failure: `error in move for path: '${path}'` });
  }

  copy(from: string, path: string): void {
    const source = this.#parent(from);
    if (source === undefined) {
      throw new PatchFailure(
        `copy operation does not apply: doc is missing from path: ${from}: missing value`,
      );
    }
    const value = readMember(source, lastKey(from), `error in copy for from: '${from}'`) ?? null;
    if (this.#parent(path) === undefined) {
      throw new PatchFailure(
        `copy operation does not apply: doc is missing destination path: ${path}: missing value`,
      );
    }
    this.#countCopy(value);
    // Two places share the value now, so neither may change it in place. One place may lie inside the value.
    this.#disown(value);
    this.add(path, value);
  }

  test(path: string, expected: unknown): void {
    const actual = path === "" ? this.#root : this.#tested(path);
    if (this.#isEqual(actual ?? null, expected)) return;
    throw new FailedTest(`testing value ${path} failed: test failed`);
  }

  /** Counts the document's members as work; the patch's side is at most as large as the patch. */
  #isEqual(actual: unknown, expected: unknown): boolean {
    if (!isContainer(actual) || !isContainer(expected)) return jsonEqual(actual, expected);
    const count = memberCount(actual);
    this.#countWork(count);
    if (Array.isArray(actual) !== Array.isArray(expected) || count !== memberCount(expected)) return false;
    return Object.keys(expected).every(
      (key) =>
        Object.hasOwn(actual, key) && this.#isEqual(findMember(actual, key), findMember(expected, key)),
    );
  }

  #tested(path: string): unknown {
    const parent = this.#parent(path);
    if (parent === undefined) {
      throw new PatchFailure(`test operation does not apply: is missing path: ${path}: missing value`);
    }
    return readMember(parent, lastKey(path), `error in test for path: '${path}'`);
  }

  #replaceRoot(value: unknown): void {
    if (!isContainer(value)) throw new PatchFailure("replace operation value must be object or array");
    this.#root = value;
  }

  /** The container of the path's last key. Undefined if it does not exist. */
  #parent(path: string): Container | undefined {
    let container = isContainer(this.#root) ? this.#root : undefined;
    for (const key of parentKeys(path)) {
      const next = container === undefined ? undefined : findMember(container, key);
      if (!isContainer(next)) return undefined;
      container = next;
    }
    return path.includes("/") ? container : undefined;
  }

  /** Like `#parent`, but first copies every container on the path that this patch does not own. */
  #writableParent(path: string): Container | undefined {
    if (this.#parent(path) === undefined) return undefined;
    let container = this.#own(this.#root);
    this.#root = container;
    for (const key of parentKeys(path)) {
      const next = this.#own(findMember(container, key));
      if (!Array.isArray(container)) setOwn(container, key, next);
      else container[findIndex(container, key) ?? 0] = next;
      container = next;
    }
    return container;
  }

  #own(value: unknown): Container {
    if (this.#owned.has(value)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
    this.#countWork(Array.isArray(copy) ? copy.length / SHIFTS_PER_WORK : memberCount(copy));
    this.#owned.add(copy);
    return copy;
  }

  #disown(value: unknown): void {
    if (!isContainer(value) || this.#owned.size === 0) return;
    this.#owned.delete(value);
    for (const member of Object.values(value)) this.#disown(member);
  }

  #insert(
    parent: Container,
    key: string,
    { value, failure }: { readonly value: unknown; readonly failure: string },
  ): void {
    if (!Array.isArray(parent)) return setOwn(parent, key, value);
    const index = key === "-" ? parent.length : listIndex(key);
    if (index === undefined) {
      throw new PatchFailure(`${failure}: value was not a proper array index: '${key}'`);
    }
    const at = fromFront(index, parent.length + 1);
    if (at === undefined) throw invalidIndex(failure, index);
    this.#countWork((parent.length - at) / SHIFTS_PER_WORK);
    parent.splice(at, 0, value);
  }

  #delete(parent: Container, key: string, failure: string): void {
    if (!Array.isArray(parent)) {
      if (!Object.hasOwn(parent, key)) {
        throw new PatchFailure(`${failure}: Unable to remove nonexistent key: ${key}: missing value`);
      }
      delete parent[key];
      return;
    }
    const at = checkedIndex(parent, key, failure);
    this.#countWork((parent.length - at) / SHIFTS_PER_WORK);
    parent.splice(at, 1);
  }

  #countCopy(value: unknown): void {
    if (isDeeper(value, JSON_DEPTH_MAX)) throw new PatchFailure("exceeded max depth");
    this.#copiedBytes += Buffer.byteLength(stringifyJson(value));
    if (this.#copiedBytes <= this.#copyBytesMax) return;
    throw new PatchFailure(
      `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${this.#copyBytesMax}`,
    );
  }

  #countWork(amount: number): void {
    this.#work += amount;
    if (this.#work > WORK_MAX) throw new PatchFailure("the patch needs too much work");
  }
}

function parentKeys(path: string): readonly string[] {
  return path.split("/").slice(1, -1).map(decodeKey);
}

function lastKey(path: string): string {
  return decodeKey(path.slice(path.lastIndexOf("/") + 1));
}

/** `~1` is a slash, `~0` a tilde. One pass decodes both, so that `~01` becomes `~1`. */
function decodeKey(key: string): string {
  return key.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~"));
}

/** Parses an integer as Go does. Undefined if the key is not an integer. */
function listIndex(key: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(key) ? Number(key) : undefined;
}

/** Offset from the front; a negative index counts from the end. Undefined if it is out of range. */
function fromFront(index: number, places: number): number | undefined {
  const at = index < 0 ? index + places : index;
  return at >= 0 && at < places ? at : undefined;
}

function findIndex(list: readonly unknown[], key: string): number | undefined {
  const index = listIndex(key);
  return index === undefined ? undefined : fromFront(index, list.length);
}

function checkedIndex(list: readonly unknown[], key: string, failure: string): number {
  const index = listIndex(key);
  if (index === undefined) {
    throw new PatchFailure(`${failure}: strconv.Atoi: parsing "${key}": invalid syntax`);
  }
  const at = fromFront(index, list.length);
  if (at === undefined) throw invalidIndex(failure, index);
  return at;
}

function invalidIndex(failure: string, at: number): PatchFailure {
  return new PatchFailure(`${failure}: Unable to access invalid index: ${at}: invalid index referenced`);
}

function readMember(container: Container, key: string, failure: string): unknown {
  if (Array.isArray(container)) return container[checkedIndex(container, key, failure)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function findMember(container: Container, key: string): unknown {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? container[key] : undefined;
  const at = findIndex(container, key);
  return at === undefined ? undefined : container[at];
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isJsonObject(value);
}

function memberCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 1;
}

/** Recurses no deeper than the limit. */
function isDeeper(value: unknown, limit: number): boolean {
  if (!isContainer(value)) return false;
  if (limit === 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(member, limit - 1)) return true;
  }
  return false;
}
