/**
 * An object that every cluster stores with only another uid and creation time. The first two clusters of a process build and encode
 * it. Later clusters copy the bytes and fill in these two values.
 */
import { assert } from "../../base/assert.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { encodeObject } from "../objects/stored-object.ts";
import type { Encoded } from "../objects/stored-object.ts";

export interface Birth {
  readonly uid: string;
  /** Formatted like a creationTimestamp. */
  readonly time: string;
}

/** Placeholders for the uid and the time. They have the length of the real values and occur in no real object. */
const UNBORN: Birth = { uid: "00000000-0000-0000-0000-000000000000", time: "0001-01-01T00:00:00Z" };

interface Model extends Encoded {
  /** Parts of the object that contain a placeholder. */
  readonly open: ReadonlySet<unknown>;
  readonly uidAt: readonly number[];
  readonly timeAt: readonly number[];
}

export class Mould {
  readonly #make: (birth: Birth) => ApiObject;
  #isNew = true;
  #model: Model | undefined;

  private constructor(make: (birth: Birth) => ApiObject) {
    this.#make = make;
  }

  /** The only template for this key in the process. All callers with one key must make the same object. */
  static of(key: object, make: (birth: Birth) => ApiObject): Mould {
    const known = moulds.get(key);
    if (known !== undefined) return known;
    const mould = new Mould(make);
    moulds.set(key, mould);
    return mould;
  }

  /** Encodes the object to store. Parts without placeholders are shared by all copies. */
  cast(birth: Birth): Encoded {
    assert(
      birth.uid.length === UNBORN.uid.length && birth.time.length === UNBORN.time.length,
      "uids and times have one length",
    );
    if (this.#isNew) {
      // In a process with one cluster a template would be wasted work.
      this.#isNew = false;
      return encodeObject(this.#make(birth));
    }
    const model = (this.#model ??= modelOf(this.#make(UNBORN)));
    const bytes = Buffer.allocUnsafeSlow(model.bytes.length);
    model.bytes.copy(bytes);
    for (const at of model.uidAt) bytes.write(birth.uid, at, "latin1");
    for (const at of model.timeAt) bytes.write(birth.time, at, "latin1");
    const object = filled(model.object, birth, model.open) as ApiObject;
    return { object, bytes, spliceAt: model.spliceAt };
  }
}

const moulds = new WeakMap<object, Mould>();

function modelOf(object: ApiObject): Model {
  const { bytes, spliceAt } = encodeObject(object);
  const open = new Set<unknown>();
  findOpen(object, open);
  return {
    object,
    bytes,
    spliceAt,
    open,
    uidAt: placesOf(UNBORN.uid, bytes),
    timeAt: placesOf(UNBORN.time, bytes),
  };
}

function placesOf(text: string, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) places.push(at);
  return places;
}

/** Tells whether the value or a part of it contains a placeholder. */
function findOpen(value: unknown, open: Set<unknown>): boolean {
  if (value === UNBORN.uid || value === UNBORN.time) return true;
  if (typeof value !== "object" || value === null) return false;
  for (const part of Object.values(value)) if (findOpen(part, open)) open.add(value);
  return open.has(value);
}

function filled(value: unknown, birth: Birth, open: ReadonlySet<unknown>): unknown {
  if (value === UNBORN.uid) return birth.uid;
  if (value === UNBORN.time) return birth.time;
  if (!open.has(value)) return value;
  if (Array.isArray(value)) return value.map((part) => filled(part, birth, open));
  const copy: Record<string, unknown> = { ...(value as object) };
  for (const key of Object.keys(copy)) copy[key] = filled(copy[key], birth, open);
  return copy;
}
