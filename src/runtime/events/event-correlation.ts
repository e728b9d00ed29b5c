/**
 * Decides the fate of an Event: a new one, a repetition, part of a combined Event for similar ones, or dropped
 * because its object has too many. The limits equal upstream's, so that `kubectl describe` looks familiar.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { TokenBucket } from "../queue/token-bucket.ts";
import { RecentMap } from "../refs/recent-map.ts";
import type { EventForm, RecordedEvent } from "./recorded-event.ts";

/** From this many different messages of one reason and object on, similar events are combined. */
const SIMILAR_MAX = 10;
/** Similar events further apart than this are not combined. */
const SIMILAR_MS = 600_000;
/** Per component and object: 25 at once, then one in five minutes. */
const SPAM_RATE = { perSecond: 1 / 300, burst: 25 };
const REMEMBERED_MAX = 4096;
/** The API's limit of a message, in bytes of UTF-8. */
const MESSAGE_MAX = 1024;
const CUT_OFF = " ...";

export interface ObservedEvent {
  /** Default: `counted`. */
  readonly form?: EventForm;
  /** Component that reports the event. */
  readonly component: string;
  readonly about: ApiObject;
  readonly event: RecordedEvent;
}

/** Accepts events without waiting and without failing. */
export interface EventSink {
  record(observed: ObservedEvent): void;
}

export type Correlation =
  | { readonly type: "dropped" }
  /** Events with the same key are repetitions of one Event. */
  | { readonly type: "kept"; readonly key: string; readonly message: string };

interface SimilarEvents {
  readonly messages: Set<string>;
  lastAt: number;
}

export class EventCorrelation {
  readonly #similar = new RecentMap<SimilarEvents>(REMEMBERED_MAX);
  readonly #buckets = new RecentMap<TokenBucket>(REMEMBERED_MAX);

  /** `nowMs` is the elapsed time of the loop. */
  correlate(observed: ObservedEvent, nowMs: number): Correlation {
    const { component, about, event } = observed;
    if (observed.form === "series") return inSeries(observed);
    const object = objectText(component, about);
    const message = truncated(event.message);
    const { type, reason, action = "", fieldPath = "" } = event;
    const kind = [object, type, reason, action, fieldPath].join("\0");
    const isOneOfMany = this.#isOneOfMany(kind, message, nowMs);
    if (!this.#bucket(object, nowMs).tryTake(nowMs)) return { type: "dropped" };
    return isOneOfMany
      ? { type: "kept", key: kind, message: truncated(`(combined from similar events): ${message}`) }
      : { type: "kept", key: `${kind}\0${message}`, message };
  }

  #isOneOfMany(kind: string, message: string, nowMs: number): boolean {
    const known = this.#similar.get(kind);
    const isRecent = known !== undefined && nowMs - known.lastAt <= SIMILAR_MS;
    const similar = isRecent ? known : { messages: new Set<string>(), lastAt: nowMs };
    if (!isRecent) this.#similar.set(kind, similar);
    similar.lastAt = nowMs;
    similar.messages.add(message);
    if (similar.messages.size < SIMILAR_MAX) return false;
    for (const any of similar.messages) {
      similar.messages.delete(any);
      break;
    }
    return true;
  }

  #bucket(object: string, nowMs: number): TokenBucket {
    const known = this.#buckets.get(object);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(SPAM_RATE, nowMs);
    this.#buckets.set(object, bucket);
    return bucket;
  }
}

/**
 * Events of a series share a key when they concern the same version of the object, whatever their messages. So an
 * object that is not written to causes a bounded number of Events.
 */
function inSeries({ component, about, event }: ObservedEvent): Correlation {
  const { type, reason, action = "", fieldPath = "", related } = event;
  const objects = [about, ...(related === undefined ? [] : [related])].map(
    (object) => `${objectText(component, object)}\0${object.metadata.resourceVersion ?? ""}`,
  );
  const key = ["series", type, reason, action, fieldPath, ...objects].join("\0");
  return { type: "kept", key, message: shortened(event.message) };
}

function objectText(component: string, { apiVersion, kind, metadata }: ApiObject): string {
  const { namespace = "", name = "", uid = "" } = metadata;
  return [component, apiVersion, kind, namespace, name, uid].join("\0");
}

/** Marks a cut message with " ...". */
function shortened(message: string): string {
  const whole = truncated(message);
  return whole === message ? message : `${firstBytes(message, MESSAGE_MAX - CUT_OFF.length)}${CUT_OFF}`;
}

function truncated(message: string): string {
  if (message.length * 3 <= MESSAGE_MAX || Buffer.byteLength(message) <= MESSAGE_MAX) return message;
  return firstBytes(message, MESSAGE_MAX);
}

function firstBytes(message: string, count: number): string {
  // A character cut in two decodes to a replacement character, which is removed.
  return Buffer.from(message)
    .subarray(0, count)
    .toString()
    .replace(/\uFFFD+$/, "");
}
