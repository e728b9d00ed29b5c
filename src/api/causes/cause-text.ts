/**
 * The cause of a write as one line of ASCII, for the header `Setpoint-Cause`:
 *
 *     replicaset/3f2a-77 of=ReplicaSet.apps/default/demo note=want%203 count=3 by=Pod/default/demo-x@1841 by=timer
 *
 * The first word is the id of the pass. `!` after a version marks a deleted object. Unknown members are ignored, so that later versions can add some.
 */
import type { Cause, ObjectName, WriteCause } from "./cause.ts";

/** A longer cause loses its last reasons. */
export const CAUSE_LENGTH_MAX = 2048;
const NOTE_LENGTH_MAX = 200;
/** Printable ASCII, begun by an id. Any other text is no cause. */
const CAUSE = /^[\x21-\x7e][\x20-\x7e]*$/;
const PASS_LENGTH_MAX = 128;

/** Whether a text can be sent and recorded. An invalid cause is dropped, so that it never fails a write. */
export function isCause(text: string): boolean {
  return text.length <= CAUSE_LENGTH_MAX && CAUSE.test(text) && passOf(text).length <= PASS_LENGTH_MAX;
}

/** Id of the pass in the text of a cause. */
function passOf(text: string): string {
  const end = text.indexOf(" ");
  return end < 0 ? text : text.slice(0, end);
}

export function causeText({ pass, subject, kept, count, note }: WriteCause): string {
  let text = pass;
  const add = (part: string): boolean => {
    if (text.length + part.length + 1 > CAUSE_LENGTH_MAX) return false;
    text += ` ${part}`;
    return true;
  };
  if (subject !== undefined) add(`of=${nameText(subject)}`);
  if (note !== undefined) add(`note=${escaped(note.slice(0, NOTE_LENGTH_MAX))}`);
  add(`count=${String(count)}`);
  for (const cause of kept) if (!add(`by=${reasonText(cause)}`)) break;
  return text;
}

/** Reads the text of a cause. Parts that it cannot read are ignored. */
export function parseCause(text: string): WriteCause {
  const [pass = "", ...parts] = text.split(" ");
  let subject: ObjectName | undefined;
  let note: string | undefined;
  let count: number | undefined;
  const kept: Cause[] = [];
  for (const part of parts) {
    const at = part.indexOf("=");
    const value = part.slice(at + 1);
    switch (part.slice(0, Math.max(at, 0))) {
      case "of":
        subject = parseName(value);
        break;
      case "by": {
        const cause = parseReason(value);
        if (cause !== undefined) kept.push(cause);
        break;
      }
      case "count":
        count = /^\d{1,9}$/.test(value) ? Number(value) : undefined;
        break;
      case "note":
        note = unescaped(value);
        break;
    }
  }
  return { pass, subject, note, kept, count: Math.max(count ?? 0, kept.length) };
}

function nameText({ group, kind, namespace, name }: ObjectName): string {
  const type = group === "" ? kind : `${kind}.${group}`;
  return `${escaped(type)}/${escaped(namespace)}/${escaped(name)}`;
}

function parseName(text: string): ObjectName | undefined {
  const [type = "", namespace, name, rest] = text.split("/").map(unescaped);
  if (type === "" || namespace === undefined || name === undefined || rest !== undefined) return undefined;
  const dot = type.indexOf(".");
  const [kind, group] = dot < 0 ? [type, ""] : [type.slice(0, dot), type.slice(dot + 1)];
  return { group, kind, namespace, name };
}

function reasonText(cause: Cause): string {
  if (cause.type === "object") {
    const text = `${nameText(cause)}@${escaped(cause.resourceVersion)}`;
    return cause.isGone === true ? `${text}!` : text;
  }
  return cause.type === "retry" ? `retry:${String(cause.attempt)}` : cause.type;
}

function parseReason(text: string): Cause | undefined {
  if (text === "timer" || text === "resync") return { type: text };
  const retry = /^retry:(\d{1,9})$/.exec(text);
  if (retry !== null) return { type: "retry", attempt: Number(retry[1]) };
  const [, named = "", resourceVersion = "", gone] = /^([^@]+)@([^!]*)(!?)$/.exec(text) ?? [];
  const name = parseName(named);
  if (name === undefined) return undefined;
  const cause = { type: "object", ...name, resourceVersion: unescaped(resourceVersion) } as const;
  return gone === "!" ? { ...cause, isGone: true } : cause;
}

/** A surrogate without its other half, which has no encoding. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Percent-encodes every character outside letters, digits and `-_.~*'():`. */
function escaped(text: string): string {
  return encodeURIComponent(text.replaceAll(LONE_SURROGATE, "\ufffd"))
    .replaceAll("%3A", ":")
    .replaceAll("!", "%21");
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
