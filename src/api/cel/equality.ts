/** Equality and order of values. Numbers compare by value across types. */
import { JsonRecord, listItemKey, listKeysOf } from "./cel-json-value.ts";
import type { Run } from "./run.ts";
import {
  CelList,
  CelMap,
  CelRecord,
  Bytes,
  type CelValue,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  type TaggedValue,
  TypeValue,
  Uint,
} from "./value.ts";

/** Values of different types are not equal; a comparison never fails. Each compared pair costs one. */
export function areEqual(left: CelValue, right: CelValue, run: Run): boolean {
  if (typeof left === "object" && left !== null) return areObjectsEqual(left, right, run);
  if (typeof left === typeof right) {
    if (typeof left === "string" && typeof right === "string")
      run.chargeText(Math.min(left.length, right.length));
    return left === right;
  }
  return isNumber(left) && isNumber(right) && compareNumbers(left, right) === 0;
}

function areObjectsEqual(left: TaggedValue, right: CelValue, run: Run): boolean {
  run.charge(1);
  if (left instanceof CelList) return right instanceof CelList && areListsEqual(left, right, run);
  if (left instanceof CelMap) return right instanceof CelMap && areMapsEqual(left, right, run);
  if (left instanceof CelRecord) return right instanceof CelRecord && areRecordsEqual(left, right, run);
  if (left instanceof Optional) return right instanceof Optional && areOptionalsEqual(left, right, run);
  return areAtomsEqual(left, right);
}

function areAtomsEqual(left: TaggedValue, right: CelValue): boolean {
  if (left instanceof Opaque)
    return right instanceof Opaque && left.tag === right.tag && left.identity === right.identity;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  return compareValues(left, right) === 0;
}

function areListsEqual(left: CelList, right: CelList, run: Run): boolean {
  if (left.size !== right.size) return false;
  if (listKeysOf(left) !== undefined) return areKeyedEqual(left, right, run);
  for (let at = 0; at < left.size; at++) {
    run.charge(1);
    if (!areEqual(left.at(at), right.at(at), run)) return false;
  }
  return true;
}

/** Compares sets and lists with keys, in any order of items. */
function areKeyedEqual(left: CelList, right: CelList, run: Run): boolean {
  const keys = listKeysOf(left);
  const others = new Map<string, CelValue>();
  for (let at = 0; at < right.size; at++) {
    const item = right.at(at);
    others.set(listItemKey(keys, item, run), item);
  }
  for (let at = 0; at < left.size; at++) {
    const item = left.at(at);
    const other = others.get(listItemKey(keys, item, run));
    if (other === undefined || !areEqual(item, other, run)) return false;
  }
  return true;
}

function areMapsEqual(left: CelMap, right: CelMap, run: Run): boolean {
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    run.charge(1);
    const other = right.find(key);
    if (other === undefined || !areEqual(left.find(key) ?? null, other, run)) return false;
  }
  return true;
}

function areRecordsEqual(left: CelRecord, right: CelRecord, run: Run): boolean {
  if (left.typeName !== right.typeName) return false;
  const names = new Set([...left.fields(), ...right.fields()]);
  for (const name of names) {
    run.charge(1);
    const [one, other] = [left.find(name), right.find(name)];
    if (one === undefined || other === undefined || !areEqual(one, other, run)) return false;
  }
  if (!(left instanceof JsonRecord) || !(right instanceof JsonRecord)) return true;
  return areMapsEqual(left.hidden, right.hidden, run);
}

function areOptionalsEqual({ value: left }: Optional, { value: right }: Optional, run: Run): boolean {
  if (left === undefined || right === undefined) return left === right;
  return areEqual(left, right, run);
}

type CelNumber = bigint | number | Uint;

function isNumber(value: CelValue): value is CelNumber {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/** Negative, zero or positive; `undefined` when the two have no order. */
export function compareValues(left: CelValue, right: CelValue): number | undefined {
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  return compareAtoms(left, right);
}

function compareAtoms(left: CelValue, right: CelValue): number | undefined {
  if (left instanceof Timestamp && right instanceof Timestamp) return sign(left.ns, right.ns);
  if (left instanceof Duration && right instanceof Duration) return sign(left.ns, right.ns);
  if (left instanceof Bytes && right instanceof Bytes) return Buffer.compare(left.data, right.data);
  return undefined;
}

function compareNumbers(left: CelNumber, right: CelNumber): number | undefined {
  const isDouble = typeof left === "number" || typeof right === "number";
  const one = isDouble ? doubleOf(left) : wholeOf(left);
  const other = isDouble ? doubleOf(right) : wholeOf(right);
  if (one < other) return -1;
  if (one > other) return 1;
  return Number.isNaN(one) || Number.isNaN(other) ? undefined : 0;
}

/** The double nearest to a number, for comparisons with a double. */
function doubleOf(value: CelNumber): number {
  return typeof value === "number" ? value : Number(wholeOf(value));
}

function wholeOf(value: CelNumber): number | bigint {
  return value instanceof Uint ? value.value : value;
}

function sign(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order by code points. UTF-16 order differs: surrogates sort below some characters of the first plane. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one === other) continue;
    const isLess = isSurrogate(one) === isSurrogate(other) ? one < other : isSurrogate(other);
    return isLess ? -1 : 1;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
