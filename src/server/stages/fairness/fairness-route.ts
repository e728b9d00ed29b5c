/** Serves /debug/api_priority_and_fairness/: the state of levels, queues and waiting requests as text. */
import type { Route } from "../../request/exchange.ts";
import type { FairQueue } from "./fair-queues.ts";
import type { FlowControl } from "./flow-control.ts";
import type { PriorityLevel, Waiter } from "./priority-level.ts";

const ROOT = "/debug/api_priority_and_fairness/";
const NONE = "<none>";
/** A level may have millions of queues; above this number only those in use are shown. */
const QUEUES_SHOWN_MAX = 1024;

type Row = readonly string[];
type Dump = (levels: readonly PriorityLevel[], withDetails: boolean) => readonly Row[];

const DUMPS: Readonly<Record<string, Dump>> = {
  dump_priority_levels: dumpLevels,
  dump_queues: dumpQueues,
  dump_requests: dumpRequests,
};

export function fairnessRoute(control: FlowControl): Route {
  return ({ info: { path }, query }) => {
    const name = path.startsWith(ROOT) ? path.slice(ROOT.length) : "";
    const dump = Object.hasOwn(DUMPS, name) ? DUMPS[name] : undefined;
    if (dump === undefined) return undefined;
    const rows = dump(control.levels, (query.get("includeRequestDetails") ?? "") !== "");
    return Promise.resolve({
      status: 200,
      headers: new Map([
        ["content-type", "text/plain; charset=utf-8"],
        ["x-content-type-options", "nosniff"],
      ]),
      body: Buffer.from(aligned(rows)),
    });
  };
}

function dumpLevels(levels: readonly PriorityLevel[]): readonly Row[] {
  const head = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
  ];
  const rows = levels.map((level) => {
    if (level.isExempt) return [level.name, ...head.slice(1).map(() => NONE)];
    const { dispatched, refused } = level;
    return [
      level.name,
      level.queues.filter(({ waiting }) => waiting.length > 0).length,
      level.isIdle,
      level.isQuiescing,
      level.waiting,
      level.executing,
      dispatched,
      refused["queue-full"] + refused["concurrency-limit"],
      refused["time-out"],
      refused.cancelled,
    ].map(String);
  });
  return [head, ...rows];
}

function dumpQueues(levels: readonly PriorityLevel[]): readonly Row[] {
  const head = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
  ];
  const rows = levels.flatMap((level) => {
    if (level.isExempt) return [[level.name, ...head.slice(1).map(() => NONE)]];
    return queuesOf(level).map((queue) => [level.name, ...queueCells(queue)]);
  });
  return [head, ...rows];
}

function queuesOf(level: PriorityLevel): readonly FairQueue<Waiter>[] {
  const active = level.queues;
  if (level.queueCount > QUEUES_SHOWN_MAX) return active;
  const byIndex = new Map(active.map((queue) => [queue.index, queue]));
  const length = Math.max(level.queueCount, ...active.map(({ index }) => index + 1));
  const empty = { waiting: [], executing: 0, seatsInUse: 0, position: 0 };
  return Array.from({ length }, (_, index) => byIndex.get(index) ?? { index, ...empty });
}

function queueCells({ index, waiting, executing, seatsInUse, position }: FairQueue<Waiter>): Row {
  let seats = 0;
  for (const waiter of waiting) seats += waiter.seats;
  const seatSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(8)}ss`;
  const counts = [index, waiting.length, executing, seatsInUse].map(String);
  return [...counts, seatSeconds(position), String(seats), String(seats), seatSeconds(seats * 3)];
}

function dumpRequests(levels: readonly PriorityLevel[], withDetails: boolean): readonly Row[] {
  const head = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
  ];
  const more = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];
  const rows = levels.flatMap((level) =>
    level.queues.flatMap(({ index, waiting }) =>
      waiting.map((waiter, at) => {
        const place = [level.name, waiter.schemaName, String(index), String(at)];
        return [...place, ...requestCells(waiter), ...(withDetails ? detailCells(waiter) : [])];
      }),
    ),
  );
  return [withDetails ? [...head, ...more] : head, ...rows];
}

function requestCells({ distinguisher, arrivedAt, seats }: Waiter): Row {
  const arrived = new Date(arrivedAt).toISOString();
  return [distinguisher, arrived, String(seats), "0", "0s", "0001-01-01T00:00:00Z"];
}

function detailCells({ about }: Waiter): Row {
  const { user, verb, path, namespace, name, apiVersion, resource, subresource } = about;
  return [user, verb, path, namespace, name, apiVersion, resource, subresource];
}

/** Aligned columns that end with a comma, as in upstream's tables. */
function aligned(rows: readonly Row[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length + 2);
  const lines = rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : `${cell},`.padEnd(widths[at] ?? 0))).join(""),
  );
  return `${lines.join("\n")}\n`;
}
