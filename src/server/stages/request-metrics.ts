/** Counts and times requests, under upstream's metric names, which alerts use. */
import type { Loop } from "../../base/loop/loop.ts";
import { whenDone } from "../../base/loop/maybe-promise.ts";
import type {
  BoundCounter,
  BoundHistogram,
  Counter,
  Histogram,
  Metrics,
} from "../../base/metrics/metrics.ts";
import type { Registry } from "../objects/registry.ts";
import type { Exchange, Stage } from "../request/exchange.ts";
import type { HttpResponse } from "../request/http.ts";
import { scopeOf } from "../request/parse-request.ts";
import type { RequestKind, RequestCounts } from "../request/request-counts.ts";
import type { AskedVerb, RequestInfo } from "../request/request-info.ts";

/**
 * A subset of upstream's buckets, from a request served from memory to the bound of 60 seconds. Alerts use 1, 5 and 30.
 */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1, 2.5, 5, 10, 30, 60];

/** Upstream's buckets, from a kilobyte to a gigabyte. */
const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

const LABELS = ["verb", "group", "version", "resource", "subresource", "scope", "component"] as const;
type RequestLabels = Readonly<Record<(typeof LABELS)[number], string>>;
const COMPONENT = "apiserver";
const NOTHING: RequestLabels = {
  verb: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  scope: "",
  component: COMPONENT,
};

/** Verb labels. A patch that applies has its own, APPLY. */
const VERBS: Readonly<Partial<Record<AskedVerb, string>>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
};
const APPLY = /^application\/apply-patch\b/;

/** Metrics of requests with the same labels and status. */
interface Meter {
  readonly total: BoundCounter;
  /** Requests that the server terminated to protect itself. */
  readonly terminated: BoundCounter | undefined;
  /** Sizes of responses to reads. */
  readonly sizes: BoundHistogram | undefined;
  readonly duration: BoundHistogram;
  /** Undefined for watches. Upstream also subtracts the time of webhooks; here that time is included. */
  readonly indicator: BoundHistogram | undefined;
}

/** Properties that identify a meter, besides the resource of the request. */
interface Measured {
  readonly verb: string;
  readonly dryRun: string;
  readonly status: number;
}

interface MeasuredParts {
  readonly loop: Loop;
  readonly registry: Registry;
  readonly tally: Pick<RequestCounts, "begin" | "end">;
}

export function measure(metrics: Metrics, { loop, registry, tally }: MeasuredParts): Stage {
  const meters = new Meters(metrics, registry);
  const lifetimes = certificateLifetimes(metrics);
  return (exchange, next) => {
    const startedAt = loop.elapsed();
    const kind = kindOf(exchange);
    if (kind !== undefined) tally.begin(kind);
    // Errors of later stages arrive here as responses.
    return whenDone(next(exchange), (response) => {
      if (kind !== undefined) tally.end(kind);
      const meter = meters.of(exchange, response.status);
      const seconds = (loop.elapsed() - startedAt) / 1000;
      meter.total.add();
      meter.duration.observe(seconds);
      meter.indicator?.observe(seconds);
      meter.terminated?.add();
      if (meter.sizes !== undefined) observeSize(meter.sizes, response);
      const expiresAt = exchange.request.peer?.expiresAt;
      if (expiresAt !== undefined) lifetimes.observe((expiresAt - loop.now()) / 1000);
      return response;
    });
  };
}

/** Upstream's buckets, from half an hour to a year. */
const LIFETIMES = [
  0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
  31_104_000,
];

function certificateLifetimes(metrics: Metrics): BoundHistogram {
  return metrics
    .histogram({
      name: "apiserver_client_certificate_expiration_seconds",
      help: "Remaining lifetime of the client certificates of requests.",
      buckets: LIFETIMES,
    })
    .bind({});
}

/** Skips streamed bodies and direct responses, which have no size. */
function observeSize(sizes: BoundHistogram, { body, direct }: HttpResponse): void {
  if (direct === undefined && body instanceof Uint8Array) sizes.observe(body.length);
}

class Meters {
  readonly #registry: Registry;
  readonly #total: Counter;
  readonly #duration: Histogram;
  readonly #indicator: Histogram;
  readonly #terminated: Counter;
  readonly #sizes: Histogram;
  readonly #meters = new Map<string, Meter>();

  constructor(metrics: Metrics, registry: Registry) {
    this.#registry = registry;
    this.#total = metrics.counter({
      name: "apiserver_request_total",
      help: "Requests by verb, resource and HTTP status.",
      labels: [...LABELS, "dry_run", "code"],
    });
    this.#duration = metrics.histogram({
      name: "apiserver_request_duration_seconds",
      help: "Time from the start of a request to its response; for watches to their first byte.",
      labels: [...LABELS, "dry_run"],
      buckets: SECONDS,
    });
    this.#indicator = metrics.histogram({
      name: "apiserver_request_sli_duration_seconds",
      help: "Service level indicator: duration of requests without watches.",
      labels: LABELS,
      buckets: SECONDS,
    });
    this.#terminated = metrics.counter({
      name: "apiserver_request_terminations_total",
      help: "Requests that the server terminated to protect itself: too many in flight, or too slow.",
      labels: [...LABELS, "code"],
    });
    this.#sizes = metrics.histogram({
      name: "apiserver_response_sizes",
      help: "Bytes of responses to get and list requests.",
      labels: LABELS,
      buckets: SIZES,
    });
  }

  of(exchange: Exchange, status: number): Meter {
    const { info } = exchange;
    const measured = { verb: verbOf(exchange), dryRun: dryRunOf(exchange.query), status };
    const name = meterName(info, measured);
    const known = this.#meters.get(name);
    if (known !== undefined) return known;
    const labels = findLabels(info, measured.verb, this.#registry);
    if (labels !== undefined) return this.#make(name, labels, measured);
    const code = String(status);
    return this.#meters.get(code) ?? this.#make(code, NOTHING, { ...measured, dryRun: "" });
  }

  #make(name: string, labels: RequestLabels, { dryRun, status }: Measured): Meter {
    const meter = {
      total: this.#total.bind({ ...labels, dry_run: dryRun, code: String(status) }),
      duration: this.#duration.bind({ ...labels, dry_run: dryRun }),
      indicator: labels.verb === "WATCH" ? undefined : this.#indicator.bind(labels),
      terminated: isTermination(status, labels)
        ? this.#terminated.bind({ ...labels, code: String(status) })
        : undefined,
      sizes: labels.verb === "GET" || labels.verb === "LIST" ? this.#sizes.bind(labels) : undefined,
    };
    this.#meters.set(name, meter);
    return meter;
  }
}

/** A refused eviction also has status 429, but is no sign of load. */
function isTermination(status: number, { subresource }: RequestLabels): boolean {
  return status === 504 || (status === 429 && subresource !== "eviction");
}

/** Undefined for watches, which are counted separately. */
function kindOf({ info }: Exchange): RequestKind | undefined {
  if (info.type === "resource" && info.verb === "watch") return undefined;
  return info.method === "GET" || info.method === "HEAD" ? "readOnly" : "mutating";
}

function verbOf({ info, request }: Exchange): string {
  if (info.type === "other") return "";
  const isApply = info.verb === "patch" && APPLY.test(request.headers.get("content-type") ?? "");
  return isApply ? "APPLY" : (VERBS[info.verb] ?? "");
}

/** One of three values, so that clients cannot add labels. */
function dryRunOf(query: URLSearchParams): string {
  const asked = query.size === 0 ? null : query.get("dryRun");
  if (asked === null || asked === "") return "";
  return asked === "All" ? "All" : "invalid";
}

function meterName(info: RequestInfo, { verb, dryRun, status }: Measured): string {
  if (info.type === "other") return String(status);
  const { group, version, resource, subresource } = info;
  return `${String(status)} ${verb} ${dryRun} ${group}/${version}/${resource}/${subresource} ${scopeOf(info)}`;
}

/** Undefined for unknown resources: names made up by clients would make the labels unbounded. */
function findLabels(info: RequestInfo, verb: string, registry: Registry): RequestLabels | undefined {
  const found = info.type === "resource" && verb !== "" ? registry.find(info) : undefined;
  if (info.type === "other" || found === undefined) return undefined;
  const { group, version, resource, subresource } = info;
  const isKnown = subresource === "" || found.facts.subresources.some((one) => one.name === subresource);
  if (!isKnown) return undefined;
  return { verb, group, version, resource, subresource, scope: scopeOf(info), component: COMPONENT };
}
