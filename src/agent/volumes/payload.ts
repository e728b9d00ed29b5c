/** Files of a volume that is made of API objects, as pure functions of these objects. Error texts equal the kubelet's. */
import type { ConfigMap, KeyToPath, Secret } from "../../api/generated/types/core-v1.ts";

export interface PayloadFile {
  readonly data: Uint8Array;
  readonly mode: number;
  /** Owner; undefined for the agent. */
  readonly uid?: number;
}

/** Keyed by the path in the volume. */
export type Payload = ReadonlyMap<string, PayloadFile>;

export interface PayloadForm {
  /** Undefined for all keys. */
  readonly items: readonly KeyToPath[] | undefined;
  readonly mode: number;
  readonly isOptional: boolean;
}

/** A volume that cannot be set up; the message is shown in an Event. */
export class VolumeError extends Error {}

export function configMapPayload(object: ConfigMap | undefined, form: PayloadForm, name: string): Payload {
  if (object === undefined && !form.isOptional) throw new VolumeError(`configmap ${quoted(name)} not found`);
  const files = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(object?.data ?? {})) files.set(key, Buffer.from(text));
  for (const [key, text] of Object.entries(object?.binaryData ?? {})) files.set(key, decoded(text));
  return chosen(files, form, "config");
}

export function secretPayload(object: Secret | undefined, form: PayloadForm, name: string): Payload {
  if (object === undefined && !form.isOptional) throw new VolumeError(`secret ${quoted(name)} not found`);
  const files = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(object?.data ?? {})) files.set(key, decoded(text));
  return chosen(files, form, "secret");
}

/** Throws for a path that two sources claim. */
export function joinedPayload(parts: readonly Payload[]): Payload {
  const all = new Map<string, PayloadFile>();
  for (const part of parts)
    for (const [path, file] of part) {
      if (all.has(path)) throw new VolumeError(`conflicting duplicate path: ${quoted(path)}`);
      all.set(path, file);
    }
  return all;
}

export function samePayload(left: Payload, right: Payload): boolean {
  if (left.size !== right.size) return false;
  for (const [path, { data, mode }] of left) {
    const other = right.get(path);
    if (other?.mode !== mode || Buffer.compare(other.data, data) !== 0) return false;
  }
  return true;
}

function chosen(
  files: ReadonlyMap<string, Uint8Array>,
  { items, mode, isOptional }: PayloadForm,
  title: "config" | "secret",
): Payload {
  const payload = new Map<string, PayloadFile>();
  if (items === undefined || items.length === 0) {
    for (const [key, data] of files) payload.set(checkedPath(key), { data, mode });
    return payload;
  }
  for (const { key, path, mode: own = mode } of items) {
    const data = files.get(key);
    if (data !== undefined) payload.set(checkedPath(path), { data, mode: own });
    else if (!isOptional) throw new VolumeError(`references non-existent ${title} key: ${key}`);
  }
  return payload;
}

/** The API refuses other paths; a second check protects the machine. */
export function checkedPath(path: string): string {
  const parts = path.split("/");
  const isBad = path === "" || path.startsWith("/") || parts.includes("..") || path.startsWith("..");
  if (isBad) throw new VolumeError(`invalid path ${quoted(path)}: must be relative and not contain '..'`);
  return parts.filter((part) => part !== "" && part !== ".").join("/");
}

function decoded(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
