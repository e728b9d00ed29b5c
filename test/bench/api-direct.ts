/**
 * Writes of controllers in the server's own process, straight to its handler with the memory engine: the server's cost without sockets and
 * disks. The figure is CPU time of all threads, because rates depend on the machine.
 */
import { performance } from "node:perf_hooks";
import type { HttpResponse } from "../../src/server/request/http.ts";
import { TestApi } from "../api-harness.ts";
import { podText } from "./api-cluster.ts";
import { perSecond, verdict, whole } from "./row.ts";
import type { Bench, Row } from "./row.ts";

const CALLERS = 64;
const ROUND = 2000;
const WARM_UP_ROUNDS = 5;
const ROUNDS = 10;
const LEASES = 1000;
const PODS = "/api/v1/namespaces/default/pods";
const LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

interface Request {
  readonly method: string;
  readonly target: string;
  readonly type?: string;
  readonly body: unknown;
  /** Receives the response object. */
  readonly seen?: (object: Kept) => void;
}

interface Kept {
  readonly metadata: { readonly resourceVersion: string };
}

const LOOP = { user: "system:kube-controller-manager", groups: ["system:masters"] };
const NEVER = new AbortController().signal;

async function call(api: TestApi, { method, target, type, body }: Request): Promise<HttpResponse> {
  const response = await api.handler({
    method,
    target,
    headers: new Map([
      ["user-agent", "kube-controller-manager/v1.36"],
      ["content-type", type ?? "application/json"],
    ]),
    peer: LOOP,
    signal: NEVER,
    readBody: () => Promise.resolve(new Uint8Array(0)),
    direct: { body },
  });
  if (response.status > 299) throw new Error(`${method} ${target} answered ${String(response.status)}`);
  return response;
}

interface Cost {
  readonly rate: number;
  /** Median of the rounds. */
  readonly cpuUs: number;
}

/** Rounds keep a busy neighbour from shifting the median. */
async function costOf(api: TestApi, request: (n: number) => Request): Promise<Cost> {
  const costs: number[] = [];
  let next = 0;
  const round = async (): Promise<void> => {
    const end = next + ROUND;
    const run = async (): Promise<void> => {
      while (next < end) {
        const asked = request(next++);
        const { direct } = await call(api, asked);
        if (direct?.type === "value") asked.seen?.(direct.value as Kept);
      }
    };
    const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: CALLERS }, run));
    const { user, system } = process.cpuUsage(cpu);
    costs.push((user + system) / ROUND);
  };
  for (let n = 0; n < WARM_UP_ROUNDS; n++) await round();
  costs.length = 0;
  const startedAt = performance.now();
  for (let n = 0; n < ROUNDS; n++) await round();
  const rate = perSecond(ROUND * ROUNDS, performance.now() - startedAt);
  return { rate, cpuUs: costs.toSorted((a, b) => a - b)[ROUNDS / 2] ?? Number.NaN };
}

const podTemplate = podText("NAME");

function newPod(n: number): Request {
  const body: unknown = JSON.parse(podTemplate.replace("NAME", `pod-${String(n)}`));
  return { method: "POST", target: PODS, body };
}

function newEvent(n: number): Request {
  const name = `pod-1.${n.toString(16)}`;
  const involvedObject = { kind: "Pod", namespace: "default", name: "pod-1", apiVersion: "v1" };
  const body = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "default" },
    involvedObject: { ...involvedObject, uid: "0e6b0a1c-8a44-4d0e-9a55-2f0bb8f3f6a1" },
    reason: "Pulled",
    message: "Container image already present on machine",
    type: "Normal",
    source: { component: "kubelet", host: "node-1" },
    firstTimestamp: "2026-11-15T05:00:00Z",
    lastTimestamp: "2026-11-15T05:00:00Z",
    count: 1,
    reportingComponent: "kubelet",
    reportingInstance: "node-1",
  };
  return { method: "POST", target: "/api/v1/namespaces/default/events", body };
}

/** Last seen resourceVersion of each lease. */
const versions: string[] = [];

function lease(at: number, renewTime: string): Pick<Request, "body" | "seen"> {
  const name = `node-${String(at)}`;
  const body = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "default", resourceVersion: versions[at] },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  };
  const seen = ({ metadata }: Kept): void => {
    versions[at] = metadata.resourceVersion;
  };
  return { body, seen };
}

function renewal(n: number): Request {
  const at = n % LEASES;
  const renewTime = `${new Date(Date.UTC(2026, 10, 15) + n).toISOString().slice(0, -1)}000Z`;
  return { method: "PUT", target: `${LEASE_PATH}/node-${String(at)}`, ...lease(at, renewTime) };
}

function statusPatch(n: number): Request {
  const ready = n % 2 === 0 ? "True" : "False";
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: ready,
    lastTransitionTime: "2026-11-15T05:00:00Z",
  }));
  const status = { phase: "Running", hostIP: "10.0.0.1", podIP: "10.1.0.1", message: String(n), conditions };
  const target = `${PODS}/pod-${String(n % LEASES)}/status`;
  return { method: "PATCH", target, type: "application/merge-patch+json", body: { status } };
}

function row(what: string, { rate, cpuUs }: Cost, aimUs: number): Row {
  return {
    what: `${what} from within the process, memory engine`,
    value: `${cpuUs.toFixed(0)} µs of CPU, ${whole(rate)}/s`,
    yardstick: "–",
    figure: `${cpuUs.toFixed(0)} µs`,
    aim: `≤ ${String(aimUs)} µs`,
    verdict: verdict(cpuUs <= aimUs),
  };
}

async function rowsOf(api: TestApi): Promise<Row[]> {
  for (let at = 0; at < LEASES; at++) {
    const request = lease(at, "2026-11-14T00:00:00.000000Z");
    const { direct } = await call(api, { method: "POST", target: LEASE_PATH, ...request });
    if (direct?.type === "value") request.seen?.(direct.value as Kept);
  }
  return [
    row("create of a pod", await costOf(api, newPod), 100),
    row("status of a pod", await costOf(api, statusPatch), 100),
    row("create of an Event", await costOf(api, newEvent), 50),
    row("renewal of a Lease", await costOf(api, renewal), 40),
  ];
}

export const apiDirect: Bench = {
  name: "api-direct",
  async run(context) {
    context.progress("api-direct");
    const api = await TestApi.start();
    try {
      return await rowsOf(api);
    } finally {
      await api.store.close();
    }
  },
};
