/**
 * Writes Events about objects, as `kubectl describe` shows them, in the background: the caller neither waits nor fails.
 * An Event is one create. A repetition before the write is counted in that create; a later repetition is a patch of its
 * count. For an Event that begins a series, only the first repetition is written at once. The final count is written
 * when the series has ended.
 */
import { isApiError, serviceUnavailable } from "../../api/errors/api-error.ts";
import { Event } from "../../api/generated/types/core-v1.ts";
import { Event as SeriesEvent } from "../../api/generated/types/events-v1.ts";
import { microTimeText, timeText } from "../../api/values/time.ts";
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

/** Upper bound of queued Events, some megabytes. Further ones are dropped and counted. */
const QUEUE_MAX = 8192;
/** Upper bound of the time for queued Events when the recorder stops. */
const FLUSH_MS = 1000;
/** Upper bound of concurrent writes. */
const WRITERS = 8;
const REMEMBERED_MAX = 4096;
/** Timeout of a write. */
const ANSWER_MS = 30_000;
const TRIES_MAX = 5;
const RETRY = { baseMs: 1000, maxMs: 30_000 };
/** A series has ended after this time without a repetition. Also the interval of the check. */
const SERIES_QUIET_MS = 360_000;
/** Interval at which the count of a running series is written, so that its Event does not expire. */
const SERIES_REFRESH_MS = 1_800_000;
/** The API's limit of a reporting instance, in characters. */
const INSTANCE_MAX = 128;
/** Limit of the object's name within the Event's name; 17 characters are for the dot and the stamp. */
const NAME_MAX = 253 - 17;

export interface EventRecorderOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly client: Client;
  /** Name of this instance of the program; Events of a series carry it. */
  readonly instance: string;
}

/** One Event object and its count. */
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
  /** The count last written, and when. */
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
  readonly #retries = new Map<Timer, Series>();
  /** Aborts writes in flight; nothing is written afterwards. */
  readonly #ending = new AbortController();
  /** True once the recorder accepts no more events. */
  #isStopping = false;
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
      help: "Recorded Events, by result.",
      labels: ["result"],
    });
  }

  /** Never throws and never waits. */
  record(observed: ObservedEvent): void {
    if (this.#isStopping) return;
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

  /**
   * Resolves when the signal is aborted and no write is in flight. Queued Events are written first; the ones that
   * remain after `FLUSH_MS` are dropped.
   */
  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    this.#isStopping = true;
    this.#sweep?.cancel();
    for (const [timer, series] of this.#retries) {
      timer.cancel();
      this.#enqueue(series);
    }
    this.#retries.clear();
    if (this.#writing === 0) return;
    const limit = this.#loop.timer(this.#loop.now() + FLUSH_MS, "progress", () => {
      this.#results.add(this.#queue.length, { result: "failed" });
      this.#ending.abort(signal.reason);
    });
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    limit.cancel();
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
    // A series keeps the message of its first Event.
    if (series.form === "counted") series.message = message;
    else if (series.count > 2) return;
    if (series.state === "writing") series.state = "seen while writing";
    if (series.state === "stored") this.#enqueue(series);
  }

  #sweepLater(): void {
    if (this.#sweep !== undefined || this.#isStopping) return;
    this.#sweep = this.#loop.timer(this.#loop.now() + SERIES_QUIET_MS, "periodic", () => {
      this.#sweep = undefined;
      this.#endSeries(this.#loop.now());
    });
  }

  /** Writes the final counts of ended series and forgets them. A later repetition starts a new series. */
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

  /** Nanoseconds in hexadecimal, as upstream names Events. The last digits are random; no two stamps are equal. */
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

  /**
   * Posts the write to the `spare` lane: it runs when the loop is idle, or in the rest of a busy turn. Events are the
   * most frequent writes, and nothing waits for them.
   */
  #writeLater(): void {
    this.#loop.post("spare", () => this.#writeNext());
  }

  /** One of the writers; it ends when the queue is empty. */
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
      writing.abort(serviceUnavailable("no response in time")),
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
    // Checked again: the Event may have been repeated during the write.
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
      // The Event has expired in the meantime.
      if (!isApiError(error, "NotFound")) throw error;
      await this.#create(series, signal);
    }
  }

  /** Retries a transient failure a few times; drops an Event that the server rejects. */
  #failed(series: Series, error: unknown): void {
    const isRepeated = series.state === "seen while writing";
    series.tries++;
    series.state = "stored";
    const mayRetry = !this.#isStopping && series.tries < TRIES_MAX && this.#retries.size < QUEUE_MAX;
    if (mayRetry && isTransient(error)) {
      this.#retryLater(series);
      return;
    }
    series.tries = 0;
    this.#results.add(1, { result: "failed" });
    const { name, message } = series;
    this.#log.debug("an event could not be written", { event: name, message, error });
    // The failed write did not contain the repetition, so the repetition gets a write of its own.
    if (isRepeated) this.#enqueue(series);
  }

  #retryLater(series: Series): void {
    series.state = "queued";
    const waitMs = backoffMs(series.tries - 1, RETRY, this.#loop.random("event-retries"));
    const timer = this.#loop.timer(this.#loop.now() + waitMs, "progress", () => {
      this.#retries.delete(timer);
      this.#enqueue(series);
    });
    this.#retries.set(timer, series);
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
