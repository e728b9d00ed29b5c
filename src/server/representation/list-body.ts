/**
 * Writes lists in parts. Items of built-in kinds omit apiVersion and kind, which the list has, as upstream: typed
 * clients compare them with single objects. Most items start with both fields, so that cutting them off is cheap.
 */
import type { JsonObject } from "../../api/json/json-object.ts";
import { encodeMessage } from "../../api/protobuf/encode.ts";
import { writeEnvelope } from "../../api/protobuf/envelope.ts";
import { WireWriter } from "../../api/protobuf/wire-writer.ts";
import { builtInStruct } from "../../api/schema/built-in-schema.ts";
import { stringifyYaml, yamlPieces } from "../../api/yaml/yaml-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ListAnswer } from "../request/answer.ts";
import type { HttpResponse } from "../request/http.ts";
import { textWithout } from "./bytes/json-text.ts";
import { bodyOf, joined } from "./bytes/pieces.ts";
import type { ObjectView } from "./object-view.ts";

export const COMMA: Uint8Array = Buffer.from(",");
const OPEN: Uint8Array = Buffer.from("{");

export function listMetadata({ resourceVersion, continueToken, remainingItems }: ListAnswer): JsonObject {
  return {
    resourceVersion,
    ...(continueToken !== undefined && { continue: continueToken }),
    ...(remainingItems !== undefined && { remainingItemCount: remainingItems }),
  };
}

/** Upstream's lists of custom resources are maps, which omit no empty field. */
function shownMetadata(list: ListAnswer, { saysEnd }: ObjectView): JsonObject {
  return saysEnd ? { continue: "", ...listMetadata(list) } : listMetadata(list);
}

export function* jsonList(list: ListAnswer, view: ObjectView): Generator<Uint8Array> {
  const { apiVersion, listKind } = view;
  const envelope = JSON.stringify({
    kind: listKind,
    apiVersion,
    metadata: shownMetadata(list, view),
    items: [],
  });
  yield Buffer.from(envelope.slice(0, -"]}".length));
  const parts = view.isNamedInLists ? (json: Uint8Array) => [json] : namelessParts(view);
  let isFirst = true;
  for (const item of list.items) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield* parts(view.json(item));
  }
  yield Buffer.from("]}");
}

/** The text of an object without apiVersion and kind. */
function namelessParts({ apiVersion, kind }: ObjectView): (json: Uint8Array) => Iterable<Uint8Array> {
  const members = Object.entries({ apiVersion, kind }).map(([name, value]) => ({
    name,
    text: Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)},`),
  }));
  const head = Buffer.concat([OPEN, ...members.map(({ text }) => text)]);
  return (json) => {
    const isHead = head.equals(json.subarray(0, head.byteLength));
    return isHead ? [OPEN, json.subarray(head.byteLength)] : textWithout(json, members);
  };
}

/** Sorted keys, as in the YAML of a single object. */
export function* yamlList(list: ListAnswer, view: ObjectView): Generator<Uint8Array> {
  const { apiVersion, listKind } = view;
  const isEmpty = list.items.length === 0;
  yield Buffer.from(`${stringifyYaml({ apiVersion })}items:${isEmpty ? " []" : ""}\n`);
  for (const item of list.items) {
    const { apiVersion: _version, kind: _kind, ...rest } = view.value(item);
    const shown = view.isNamedInLists ? view.value(item) : rest;
    for (const piece of yamlPieces([shown])) yield Buffer.from(piece);
  }
  yield Buffer.from(stringifyYaml({ kind: listKind, metadata: shownMetadata(list, view) }));
}

/** Encoding this many new objects takes a few milliseconds; other steps run in between. */
const ITEMS_PER_TURN = 100;

/** A message starts with its length, so all items are encoded before the first byte is sent. */
export function protobufList(list: ListAnswer, view: ObjectView, loop: Loop): HttpResponse["body"] {
  if (list.items.length <= ITEMS_PER_TURN) {
    const items = list.items.map((item) => view.message(item));
    return bodyOf(messageParts(list, view, items), { loop });
  }
  return encodedInTurns(list, view, loop);
}

async function* encodedInTurns(list: ListAnswer, view: ObjectView, loop: Loop): AsyncGenerator<Uint8Array> {
  const items: Uint8Array[] = [];
  for (const item of list.items) {
    items.push(view.message(item));
    if (items.length % ITEMS_PER_TURN === 0) {
      await new Promise<void>((resolve) => loop.post("request", resolve));
    }
  }
  yield* joined(messageParts(list, view, items));
}

/** Tags of the fields of a list and of the envelope around it. */
const METADATA = 0x0a;
const ITEM = 0x12;
const RAW = 0x12;
/** The end of an envelope without content: empty content, encoding and type. */
const EMPTY_END_BYTES = 6;
const END_BYTES = 4;

/** The output of `encodeList`, unjoined. */
function* messageParts(
  list: ListAnswer,
  { apiVersion, listKind }: ObjectView,
  items: readonly Uint8Array[],
): Generator<Uint8Array> {
  const metadata = encodeMessage(builtInStruct("meta.v1.ListMeta"), listMetadata(list));
  const heads = items.map((item) => tagged(ITEM, item.byteLength));
  const metadataHead = tagged(METADATA, metadata.byteLength);
  let bytes = metadataHead.byteLength + metadata.byteLength;
  for (const [at, item] of items.entries()) bytes += item.byteLength + (heads[at]?.byteLength ?? 0);

  const empty = writeEnvelope({ apiVersion, kind: listKind, raw: new Uint8Array() });
  yield empty.subarray(0, -EMPTY_END_BYTES);
  yield tagged(RAW, bytes);
  yield metadataHead;
  yield metadata;
  for (const [at, item] of items.entries()) {
    const head = heads[at];
    if (head !== undefined) yield head;
    yield item;
  }
  yield empty.subarray(-END_BYTES);
}

function tagged(tag: number, length: number): Uint8Array {
  const writer = new WireWriter();
  writer.varint(length);
  writer.varint(tag);
  return writer.finish();
}
