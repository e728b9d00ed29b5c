/**
 * Writes Events about objects, as `kubectl describe` shows them, in the background: whoever records one neither waits nor fails. An event is
 * one create; seen again before it was written it is still one create, seen again later it is a patch of its count. Of one that begins a series,
 * only the first repetition is written at once, and how many there were when the series has ended.
 */
import { isApiError, serviceUnavailable } from "../../api/errors/api-error.ts";
import { Event } from "../../api/generated/types/core-v1.ts";
import { Event as SeriesEvent } from "../../api/generated/types/events-v1.ts";
import { formatMicroTime, formatTime } from "../../api/values/time.ts";
import type { Log } from "../../base/log/log.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Counter, Metrics } from "../../base/metrics/metrics.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { referenceTo } from "../refs/object-reference.ts";
import { RecentMap } from "../refs/recent-map.ts";
import { EventCorrelation, type EventSink, type ObservedEvent } from "./event-correlation.ts";
import type { EventForm, RecordedEvent } from "./recorded-event.ts";

/** Events that wait to be written; beyond it they are dropped, which is counted. Some megabytes at most. */
const QUEUE_MAX = 8192;
/** So many writes are under way at once. */
const WRITERS = 8;
const REMEMBERED_MAX = 4096;
/** No writer waits longer for an answer. */
const ANSWER_MS = 30_000;
const TRIES_MAX = 5;
const RETRY = { baseMs: 1000, maxMs: 30_000 };
/** A series has ended when nothing came for so long; this often it is looked for. */
const SERIES_QUIET_MS = 360_000;
/** What a series that goes on has come to is written this often, before its Event expires. */
const SERIES_REFRESH_MS = 1_800_000;
/** Characters that the API takes in a reporting instance. */
const INSTANCE_MAX = 128;
/** Of an object's name, so that the name of the event keeps within its limit. */
const NAME_MAX = 253 - 17;

export interface EventRecorderOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly client: Client;
  /** Which of several instances of the program this is; Events that begin a series say so. */
  readonly instance: string;
}

/** One Event object and how often it was seen. */
interface Series {
  readonly form: EventForm;
  readonly component: string;
  readonly about: Event["involvedObject"];
  readonly event: RecordedEvent;
  readonly name: string;
  readonly namespace: string;
  readonly firstAt: number;
  message: string;
  lastAt: number;
  count: number;
  /** What the server was last told, and when. */
  written: { readonly count: number; readonly at: number };
  state: "queued" | "writing" | "seen while writing" | "stored";
  isCreated: boolean;
  tries: number;
}

export class EventRecorder implements EventSink {
  readonly #loop: Loop;
  readonly #log: Log;
  readonly #events: ResourceClient<Event>;
  readonly #seriesEvents: ResourceClient<SeriesEvent>;
  readonly #instance: string;
  readonly #results: Counter;
  readonly #correlation = new EventCorrelation();
  readonly #series = new RecentMap<Series>(REMEMBERED_MAX);
  readonly #queue = new Fifo<Series>();
  readonly #retries = new Set<Timer>();
  /** Ends what is under way, and with it everything that is recorded later. */
  readonly #ending = new AbortController();
  #writing = 0;
  #lastStamp = 0n;
  #onIdle: (() => void) | undefined;
  #sweep: Timer | undefined;

  constructor({ loop, log, metrics, client, instance }: EventRecorderOptions) {
    this.#loop = loop;
    this.#log = log;
    this.#instance = instance;
    this.#events = client(Event);
    this.#seriesEvents = client(SeriesEvent);
    this.#results = metrics.counter({
      name: "setpoint_events_total",
      help: "Events that were recorded, by what became of them.",
      labels: ["result"],
    });
  }

  /** Never throws and never waits. */
  record(observed: ObservedEvent): void {
    if (this.#ending.signal.aborted) return;
    const correlation = this.#correlation.correlate(observed, this.#loop.elapsed());
    if (correlation.type === "dropped") {
      this.#results.add(1, { result: "filtered" });
      return;
    }
    const { key, message } = correlation;
    const known = this.#series.get(key);
    if (known !== undefined) this.#again(known, message);
    else if (this.#queue.length >= QUEUE_MAX) this.#results.add(1, { result: "overflowed" });
    else this.#begin(key, observed, message);
  }

  /** Ends when the signal is aborted and nothing is being written any more. What waits then is dropped. */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    this.#ending.abort(signal.reason);
    for (const timer of this.#retries) timer.cancel();
    this.#sweep?.cancel();
    if (this.#writing > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
  }

  #begin(key: string, observed: ObservedEvent, message: string): void {
    const { form = "counted", component, about, event } = observed;
    const { name = "", namespace = "" } = about.metadata;
    const now = this.#loop.now();
    const series: Series = {
      form,
      component,
      about: referenceTo(about, event.fieldPath),
      event,
      name: `${name.slice(0, NAME_MAX)}.${this.#stamp(now)}`,
      namespace: namespace === "" ? "default" : namespace,
      firstAt: now,
      lastAt: now,
      message,
      count: 1,
      written: { count: 0, at: now },
      state: "queued",
      isCreated: false,
      tries: 0,
    };
    this.#series.set(key, series);
    this.#enqueue(series);
    if (form === "series") this.#sweepLater();
  }

  #again(series: Series, message: string): void {
    series.count++;
    series.lastAt = this.#loop.now();
    // What is said of a series is what was said first.
    if (series.form === "counted") series.message = message;
    else if (series.count > 2) return;
    if (series.state === "writing") series.state = "seen while writing";
    if (series.state === "stored") this.#enqueue(series);
  }

  #sweepLater(): void {
    if (this.#sweep !== undefined || this.#ending.signal.aborted) return;
    this.#sweep = this.#loop.timer(this.#loop.now() + SERIES_QUIET_MS, "periodic", () => {
      this.#sweep = undefined;
      this.#endSeries(this.#loop.now());
    });
  }

  /** Writes what series that have ended came to, and forgets them: what comes later is another one. */
  #endSeries(now: number): void {
    let isAny = false;
    for (const [key, series] of [...this.#series]) {
      if (series.form !== "series") continue;
      const hasEnded = now - series.lastAt >= SERIES_QUIET_MS;
      const isDue = hasEnded || now - series.written.at >= SERIES_REFRESH_MS;
      if (isDue && series.count > series.written.count && series.state === "stored") this.#enqueue(series);
      if (hasEnded) this.#series.delete(key);
      else isAny = true;
    }
    if (isAny) this.#sweepLater();
  }

  /** Nanoseconds as upstream has them, the last digits by chance: no two are equal. */
  #stamp(now: number): string {
    const drawn =
      BigInt(Math.floor(now)) * 1_000_000n + BigInt(this.#loop.random("event-names").below(1_000_000));
    this.#lastStamp = drawn > this.#lastStamp ? drawn : this.#lastStamp + 1n;
    return this.#lastStamp.toString(16);
  }

  #enqueue(series: Series): void {
    series.state = "queued";
    this.#queue.push(series);
    if (this.#writing >= WRITERS) return;
    this.#writing++;
    this.#writeLater();
  }

  /** Each write waits until nothing else is to be done, or for the little that is left of a busy time: there are more Events than anything else, and nobody waits for one. */
  #writeLater(): void {
    this.#loop.post("spare", () => this.#writeNext());
  }

  /** One of the writers: ends when nothing waits any more. */
  async #writeNext(): Promise<void> {
    const series = this.#ending.signal.aborted ? undefined : this.#queue.shift();
    if (series === undefined) {
      this.#writing--;
      if (this.#writing === 0) this.#onIdle?.();
      return;
    }
    const end = this.#loop.inFlight("events");
    await this.#write(series);
    end();
    this.#writeLater();
  }

  async #write(series: Series): Promise<void> {
    series.state = "writing";
    const writing = endableSignal([this.#ending.signal]);
    const limit = this.#loop.timer(this.#loop.now() + ANSWER_MS, "progress", () =>
      writing.abort(serviceUnavailable("no answer in time")),
    );
    try {
      await this.#store(series, writing.signal);
      series.tries = 0;
      this.#results.add(1, { result: "written" });
    } catch (error) {
      this.#failed(series, error);
      return;
    } finally {
      limit.cancel();
      writing.release();
    }
    // Asked again: it may have been seen during the write.
    if ((series.state as Series["state"]) === "seen while writing") this.#enqueue(series);
    else series.state = "stored";
  }

  async #store(series: Series, signal: AbortSignal): Promise<void> {
    const { count } = series;
    if (series.isCreated) await this.#update(series, signal);
    else await this.#create(series, signal);
    series.isCreated = true;
    series.written = { count, at: this.#loop.now() };
  }

  async #create(series: Series, signal: AbortSignal): Promise<void> {
    if (series.form === "series")
      await this.#seriesEvents.create(seriesManifest(series, this.#instance), { signal });
    else await this.#events.create(countedManifest(series), { signal });
  }

  async #update(series: Series, signal: AbortSignal): Promise<void> {
    const { name, namespace, count, message, lastAt } = series;
    try {
      if (series.form === "series") {
        const changes = { series: { count, lastObservedTime: microTimeText(lastAt) } };
        await this.#seriesEvents.patch({ name, namespace }, { type: "merge", changes }, { signal });
      } else {
        const changes = { count, message, lastTimestamp: timeText(lastAt) };
        await this.#events.patch({ name, namespace }, { type: "merge", changes }, { signal });
      }
    } catch (error) {
      // Events do not live long: this one has expired meanwhile.
      if (!isApiError(error, "NotFound")) throw error;
      await this.#create(series, signal);
    }
  }

  /** What the server refuses is not tried again; what it could not take now is, a few times. */
  #failed(series: Series, error: unknown): void {
    series.tries++;
    series.state = "stored";
    if (this.#ending.signal.aborted) return;
    if (!isTransient(error) || series.tries >= TRIES_MAX || this.#retries.size >= QUEUE_MAX) {
      series.tries = 0;
      this.#results.add(1, { result: "failed" });
      const { name, message } = series;
      this.#log.debug("an event could not be written", { event: name, message, error });
      return;
    }
    this.#retryLater(series);
  }

  #retryLater(series: Series): void {
    series.state = "queued";
    const waitMs = backoffMs(series.tries - 1, RETRY, this.#loop.random("event-retries"));
    const timer = this.#loop.timer(this.#loop.now() + waitMs, "progress", () => {
      this.#retries.delete(timer);
      this.#enqueue(series);
    });
    this.#retries.add(timer);
  }
}

function isTransient(error: unknown): boolean {
  if (!isApiError(error)) return false;
  return error.code >= 500 || error.reason === "TooManyRequests";
}

function countedManifest(series: Series): Parameters<ResourceClient<Event>["create"]>[0] {
  const { component, about, event, name, namespace, message, count } = series;
  return {
    metadata: { name, namespace },
    involvedObject: about,
    reason: event.reason,
    message,
    type: event.type,
    ...(event.action === undefined ? {} : { action: event.action }),
    source: { component, ...(event.host === undefined ? {} : { host: event.host }) },
    reportingComponent: component,
    reportingInstance: event.host ?? "",
    firstTimestamp: timeText(series.firstAt),
    lastTimestamp: timeText(series.lastAt),
    count,
  };
}

function seriesManifest(
  series: Series,
  instance: string,
): Parameters<ResourceClient<SeriesEvent>["create"]>[0] {
  const { component, about, event, name, namespace, message, count, firstAt, lastAt } = series;
  const { related } = event;
  return {
    metadata: { name, namespace },
    eventTime: microTimeText(firstAt),
    reportingController: component,
    reportingInstance: `${component}-${instance}`.slice(0, INSTANCE_MAX),
    action: event.action ?? event.reason,
    reason: event.reason,
    regarding: about,
    ...(related === undefined ? {} : { related: referenceTo(related) }),
    note: message,
    type: event.type,
    ...(count === 1 ? {} : { series: { count, lastObservedTime: microTimeText(lastAt) } }),
  };
}

function timeText(ms: number): string {
  return formatTime(BigInt(Math.floor(ms)) * 1000n);
}

function microTimeText(ms: number): string {
  return formatMicroTime(BigInt(Math.floor(ms * 1000)));
}
