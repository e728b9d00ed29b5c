/** Encodes watch events as frames: lines of JSON, or length-prefixed protobuf. */
import type { Status } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { encodeMessage } from "../../api/protobuf/encode.ts";
import { encodeObject, encodeWatchEvent, writeEnvelope } from "../../api/protobuf/envelope.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../api/schema/normal-form.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { withResourceVersion } from "../objects/stored-object.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { WatchEventAnswer } from "../request/answer.ts";
import { withJsonVersion } from "./bytes/json-text.ts";
import type { FormCache } from "./form-cache.ts";
import type { ObjectView } from "./object-view.ts";
import type { Table } from "./table.ts";

/** Encodes the events of one watch. */
export interface FrameWriter {
  /** Equal for writers with equal output; undefined where outputs are never shared. */
  readonly name: string | undefined;
  /** Frame of a change. Cached and shared by all watchers with the same form. */
  frame(event: WatchEventAnswer): Uint8Array;
  /** Parts of a frame, for one of very many events; not cached. */
  parts(event: WatchEventAnswer): Iterable<Uint8Array>;
}

export interface FrameOptions {
  readonly view: ObjectView;
  readonly cache: FormCache;
}

/** Cache keys of frames. The common ones are built once. */
class FrameNames {
  readonly form: string;
  readonly #added: string;
  readonly #modified: string;

  constructor(form: string) {
    this.form = form;
    this.#added = `${form} ADDED`;
    this.#modified = `${form} MODIFIED`;
  }

  of({ type, resourceVersion }: WatchEventAnswer): string {
    if (resourceVersion !== undefined) return `${this.form} ${type} ${resourceVersion}`;
    if (type === "MODIFIED") return this.#modified;
    return type === "ADDED" ? this.#added : `${this.form} ${type}`;
  }
}

export class JsonFrames implements FrameWriter {
  readonly #view: ObjectView;
  readonly #cache: FormCache;
  readonly #names: FrameNames;

  constructor({ view, cache }: FrameOptions) {
    this.#view = view;
    this.#cache = cache;
    this.#names = new FrameNames(`json frame ${view.apiVersion} ${view.kind} ${view.edition}`);
  }

  get name(): string {
    return this.#names.form;
  }

  frame(event: WatchEventAnswer): Uint8Array {
    if (event.stored === undefined) return Buffer.concat([...this.parts(event)]);
    return this.#cache.form(event.stored, this.#names.of(event), () => Buffer.concat([...this.parts(event)]));
  }

  *parts(event: WatchEventAnswer): Generator<Uint8Array> {
    yield FRAME_HEADS[event.type];
    yield this.#object(event);
    yield FRAME_END;
  }

  #object(event: WatchEventAnswer): Uint8Array {
    const { stored, resourceVersion } = event;
    if (stored === undefined) return Buffer.from(stringifyJson(withoutObject(event, this.#view)));
    const json = this.#view.json(stored);
    return resourceVersion === undefined ? json : withJsonVersion(json, resourceVersion);
  }
}

const FRAME_END = Buffer.from("}\n");
const FRAME_HEADS: Readonly<Record<WatchEventAnswer["type"], Uint8Array>> = {
  ADDED: frameHead("ADDED"),
  MODIFIED: frameHead("MODIFIED"),
  DELETED: frameHead("DELETED"),
  BOOKMARK: frameHead("BOOKMARK"),
  ERROR: frameHead("ERROR"),
};

function frameHead(type: string): Uint8Array {
  return Buffer.from(`{"type":"${type}","object":`);
}

export class ProtobufFrames implements FrameWriter {
  readonly #view: ObjectView;
  readonly #cache: FormCache;
  readonly #names: FrameNames;

  constructor({ view, cache }: FrameOptions) {
    this.#view = view;
    this.#cache = cache;
    this.#names = new FrameNames(`protobuf frame ${view.apiVersion} ${view.kind}`);
  }

  get name(): string {
    return this.#names.form;
  }

  frame(event: WatchEventAnswer): Uint8Array {
    if (event.stored === undefined) return this.#make(event);
    return this.#cache.form(event.stored, this.#names.of(event), () => this.#make(event));
  }

  *parts(event: WatchEventAnswer): Generator<Uint8Array> {
    yield this.#make(event);
  }

  #make(event: WatchEventAnswer): Uint8Array {
    const content = encodeWatchEvent(event.type, this.#object(event));
    const frame = Buffer.allocUnsafe(4 + content.byteLength);
    frame.writeUInt32BE(content.byteLength, 0);
    frame.set(content, 4);
    return frame;
  }

  #object(event: WatchEventAnswer): Uint8Array {
    const { stored, status } = event;
    if (stored !== undefined) return writeEnvelope({ ...this.#view, raw: this.#message(stored, event) });
    if (status !== undefined) return encodeStatus(status);
    return encodeObject(this.#view.schema, bookmarkOf(event, this.#view));
  }

  #message(stored: StoredObject, { resourceVersion }: WatchEventAnswer): Uint8Array {
    if (resourceVersion === undefined) return this.#view.message(stored);
    const value = this.#view.value(stored) as ApiObject;
    const moved = withResourceVersion(value, resourceVersion);
    return encodeMessage(this.#view.schema, moved);
  }
}

export interface TableFrameOptions {
  /** Called for each event, because ages grow. */
  readonly table: () => Table;
  readonly view: ObjectView;
  readonly servedOf: (stored: StoredObject) => ApiObject;
}

/** Each event contains a table of one row. Nothing is shared, because ages differ. */
export class TableFrames implements FrameWriter {
  readonly name = undefined;
  readonly #options: TableFrameOptions;
  #hasColumns = true;

  constructor(options: TableFrameOptions) {
    this.#options = options;
  }

  frame(event: WatchEventAnswer): Uint8Array {
    return Buffer.concat([...this.parts(event)]);
  }

  *parts(event: WatchEventAnswer): Generator<Uint8Array> {
    yield FRAME_HEADS[event.type];
    yield* this.#object(event);
    yield FRAME_END;
  }

  *#object(event: WatchEventAnswer): Generator<Uint8Array> {
    const { stored, resourceVersion, status } = event;
    if (status !== undefined) {
      yield Buffer.from(stringifyJson(status));
      return;
    }
    const table = this.#options.table();
    const columns = { hasColumns: this.#hasColumns };
    this.#hasColumns = false;
    if (stored === undefined) {
      yield Buffer.from(stringifyJson(table.bookmark(bookmarkOf(event, this.#options.view), columns)));
    } else if (resourceVersion === undefined) yield* table.json(stored, columns);
    else {
      const moved = withResourceVersion(this.#options.servedOf(stored), resourceVersion);
      yield Buffer.from(stringifyJson(table.value(moved, columns)));
    }
  }
}

/** The Status of an error event; otherwise a bookmark. */
export function withoutObject(event: WatchEventAnswer, view: ObjectView): Status | ApiObject {
  return event.status ?? bookmarkOf(event, view);
}

/** An otherwise empty object of the watched kind. */
function bookmarkOf({ resourceVersion = "", isInitialEnd }: WatchEventAnswer, view: ObjectView): ApiObject {
  const annotations = { "k8s.io/initial-events-end": "true" };
  const metadata = { resourceVersion, ...(isInitialEnd === true && { annotations }) };
  return { kind: view.kind, apiVersion: view.apiVersion, metadata };
}

export function encodeStatus(status: Status): Uint8Array {
  const schema = findKindSchema("v1", "Status");
  if (schema === undefined) throw new Error("the published API has no Status");
  return encodeObject(schema, toNormalForm(schema, status).value as JsonObject);
}
