import { describe, expect, test } from "vitest";
import { isApiError } from "../../../api/errors/api-error.ts";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { HttpResponse } from "../../request/http.ts";
import { parseRequest } from "../../request/parse-request.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { ServerFixture, textAt } from "../../upkeep/fixture.ts";
import { createFairness } from "./create-fairness.ts";
import type { Fairness, FairnessOptions } from "./create-fairness.ts";

const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";
const PODS = "/api/v1/namespaces/default/pods";

/** A request in flight, which the test completes. */
interface Work {
  readonly user: string;
  end(body?: HttpResponse["body"]): void;
}

interface Sending {
  readonly user: string;
  readonly method?: string;
  readonly target?: string;
  readonly groups?: readonly string[];
  readonly signal?: AbortSignal;
}

interface Sent {
  readonly notes: RequestNotes;
  /** Undefined while in flight; then the status of the response, or the reason of the refusal. */
  outcome: string | undefined;
  response: HttpResponse | undefined;
}

/** The stage in front of a server whose responses the test completes. */
class Desk {
  readonly loop = new VirtualLoop({ seed: 1 });
  readonly metrics = createMetrics();
  /** Requests that hold seats, in the order in which they got them. */
  readonly working: Work[] = [];
  #server: ServerFixture | undefined;
  #fairness: Fairness | undefined;

  /** Opens a desk with this number of seats, or with these options. */
  static async open(seats: number | FairnessOptions = 600): Promise<Desk> {
    const desk = new Desk();
    const store = openMemoryStore({ loop: desk.loop.child("store") });
    desk.#server = await desk.done(ServerFixture.start({ store, loop: desk.loop.child("server") }));
    const options =
      typeof seats === "number" ? { isOn: true, maxReadsInFlight: seats, maxWritesInFlight: 0 } : seats;
    desk.#fairness = createFairness(desk.#server.verbParts, desk.metrics, options);
    return desk;
  }

  get server(): ServerFixture {
    if (this.#server === undefined) throw new Error("the desk is open");
    return this.#server;
  }

  done<T>(promise: Promise<T>): Promise<T> {
    return this.loop.finish(promise);
  }

  async create(path: string, body: unknown): Promise<string> {
    const reply = await this.done(this.server.send("POST", FLOWS + path, body));
    expect(reply.code).toBe(201);
    return textAt(reply.body, "metadata", "uid");
  }

  /** Creates a level, and a FlowSchema that maps these users to it. */
  async limit(shares: number, limitResponse: object, users: readonly string[]): Promise<readonly string[]> {
    const level = await this.create("/prioritylevelconfigurations", {
      metadata: { name: "tight" },
      spec: {
        type: "Limited",
        limited: { nominalConcurrencyShares: shares, borrowingLimitPercent: 0, limitResponse },
      },
    });
    const subjects = users.map((name) => ({ kind: "User", user: { name } }));
    const all = ["*"];
    const resources = { verbs: all, apiGroups: all, resources: all, namespaces: all, clusterScope: true };
    const schema = await this.create("/flowschemas", {
      metadata: { name: "tight" },
      spec: {
        matchingPrecedence: 500,
        priorityLevelConfiguration: { name: "tight" },
        distinguisherMethod: { type: "ByUser" },
        rules: [{ subjects, resourceRules: [resources] }],
      },
    });
    return [schema, level];
  }

  send({ user, method = "GET", target = `${PODS}/a`, groups = [], signal }: Sending): Sent {
    const notes = new RequestNotes();
    const exchange: Exchange = {
      ...parseRequest(method, target),
      notes,
      user: { name: user, uid: "", groups: [...groups, "system:authenticated"], extra: {} },
      request: {
        headers: new Map(),
        peer: undefined,
        signal: signal ?? new AbortController().signal,
        readBody: () => Promise.resolve(new Uint8Array(0)),
      },
    };
    const sent: Sent = { notes, outcome: undefined, response: undefined };
    this.#run(exchange).then(
      (response) => {
        sent.response = response;
        sent.outcome = String(response.status);
      },
      (error: unknown) => {
        if (!isApiError(error)) throw error;
        sent.outcome = `${error.reason} ${String(error.details?.retryAfterSeconds)}: ${error.message}`;
      },
    );
    return sent;
  }

  async #run(exchange: Exchange): Promise<HttpResponse> {
    if (this.#fairness === undefined) throw new Error("the desk is open");
    return this.#fairness.stage(exchange, ({ user }) => this.#work(user?.name ?? ""));
  }

  #work(user: string): Promise<HttpResponse> {
    return new Promise((resolve) => {
      const end = (body: HttpResponse["body"] = new Uint8Array(0)): void =>
        resolve({ status: 200, headers: new Map(), body });
      this.working.push({ user, end });
    });
  }

  async dump(name: string): Promise<readonly string[]> {
    const path = `/debug/api_priority_and_fairness/${name}`;
    const [route] = this.#fairness?.routes ?? [];
    const response = await route?.(parseRequest("GET", path) as Exchange);
    return Buffer.from(response?.body as Uint8Array)
      .toString()
      .split("\n");
  }
}

const QUEUE = { type: "Queue", queuing: { queues: 64, handSize: 1, queueLengthLimit: 10 } };
const REFUSED = "TooManyRequests 1: Too many requests, please try again later.";

describe("a request", () => {
  test("belongs to the first FlowSchema that matches it, as soon as that is visible", async () => {
    const desk = await Desk.open();
    const before = desk.send({ user: "noxu" });
    const [schemaUid, levelUid] = await desk.limit(1, { type: "Reject" }, ["noxu"]);

    const after = desk.send({ user: "noxu" });
    const other = desk.send({ user: "foo" });

    expect(after.notes.flow).toEqual({ schemaUid, levelUid });
    expect(before.notes.flow?.schemaUid).not.toBe("");
    expect(other.notes.flow).toEqual(before.notes.flow);
  });

  test.each([
    [{ user: "root", groups: ["system:masters"] }, "exempt"],
    [{ user: "somebody", target: "/healthz" }, "probes"],
    [
      { user: "system:kube-scheduler", target: "/apis/coordination.k8s.io/v1/namespaces/a/leases/b" },
      "system-leader-election",
    ],
    [
      { user: "system:serviceaccount:kube-system:x", target: "/api/v1/namespaces/a/configmaps/b" },
      "workload-leader-election",
    ],
    [
      { user: "system:serviceaccount:kube-system:x", target: "/api/v1/namespaces/a/configmaps" },
      "kube-system-service-accounts",
    ],
    [
      { user: "system:node:n", groups: ["system:nodes"], target: "/api/v1/nodes/n/status" },
      "system-node-high",
    ],
    [{ user: "system:node:n", groups: ["system:nodes"], target: "/api/v1/pods" }, "system-nodes"],
    [
      { user: "system:kube-controller-manager", target: "/api/v1/namespaces/a/endpoints/b" },
      "endpoint-controller",
    ],
    [{ user: "system:kube-controller-manager", target: "/version" }, "kube-controller-manager"],
    [{ user: "system:serviceaccount:a:b", groups: ["system:serviceaccounts"] }, "service-accounts"],
    [{ user: "alice" }, "global-default"],
  ] as const)("%j belongs to the default FlowSchema %s", async (sending, name) => {
    const desk = await Desk.open();
    const { body } = await desk.done(desk.server.send("GET", `${FLOWS}/flowschemas/${name}`));

    const { notes } = desk.send(sending);

    expect(notes.flow?.schemaUid).toBe(textAt(body, "metadata", "uid"));
  });

  test("of an administrator never waits", async () => {
    const desk = await Desk.open(7);

    for (let n = 0; n < 1000; n++) desk.send({ user: "root", groups: ["system:masters"] });

    expect(desk.working).toHaveLength(1000);
  });

  test("without a free seat is refused at a level without queues", async () => {
    const desk = await Desk.open();
    await desk.limit(1, { type: "Reject" }, ["a"]);
    const seats = 3;
    for (let n = 0; n < seats; n++) desk.send({ user: "a" });

    const refused = desk.send({ user: "a" });
    await desk.loop.settle();

    expect(desk.working).toHaveLength(seats);
    expect(refused.outcome).toBe(REFUSED);
    expect(refused.notes.flow).toBeDefined();
    expect(await desk.metrics.expose()).toContain(
      'apiserver_flowcontrol_rejected_requests_total{flow_schema="tight",priority_level="tight",reason="concurrency-limit"} 1',
    );
  });

  test("of a user with few requests is served before those of a user with many", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["elephant", "mouse"]);
    for (let n = 0; n < 10; n++) desk.send({ user: "elephant" });
    const last = desk.send({ user: "mouse" });
    expect(desk.working).toHaveLength(1);

    for (let n = 0; n < 3; n++) {
      desk.working[n]?.end();
      await desk.loop.settle();
    }

    expect(desk.working.map(({ user }) => user).slice(0, 3)).toContain("mouse");
    expect(last.outcome).toBe("200");
  });

  test("is refused when its queue is full, and those of other users are not", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["elephant", "mouse"]);
    const sent = Array.from({ length: 15 }, () => desk.send({ user: "elephant" }));
    const other = desk.send({ user: "mouse" });
    await desk.loop.settle();

    expect(sent.filter(({ outcome }) => outcome === REFUSED)).toHaveLength(4);
    expect(other.outcome).toBeUndefined();
  });

  test("waits at most a quarter of its timeout", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    desk.send({ user: "a" });
    const usual = desk.send({ user: "a" });
    const hasty = desk.send({ user: "a", target: `${PODS}/a?timeout=4s` });

    await desk.loop.advance(1001);
    expect([usual.outcome, hasty.outcome]).toEqual([undefined, REFUSED]);
    await desk.loop.advance(14_000);
    expect(usual.outcome).toBe(REFUSED);
  });

  test("is served although a FlowSchema is unreadable", async () => {
    const desk = await Desk.open();
    const { store } = desk.server.verbParts;
    const value = Buffer.from("{");
    await desk.done(store.write({ changes: [{ type: "put", key: "/registry/flowschemas/bad", value }] }));

    desk.send({ user: "a" });

    expect(desk.working).toHaveLength(1);
  });

  test("leaves its queue when its client disconnects", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    const leaving = new AbortController();
    desk.send({ user: "a" });
    desk.send({ user: "a", signal: leaving.signal });
    desk.send({ user: "a" });
    expect((await desk.dump("dump_requests")).filter((line) => line.startsWith("tight"))).toHaveLength(2);

    leaving.abort();

    expect((await desk.dump("dump_requests")).filter((line) => line.startsWith("tight"))).toHaveLength(1);
    expect((await desk.dump("dump_priority_levels")).find((line) => line.startsWith("tight"))).toMatch(
      /^tight, +1, +false, +false, +1, +1, +1, +0, +0, +1$/,
    );
  });

  test("keeps its seat until its response is sent", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    const first = desk.send({ user: "a" });
    desk.send({ user: "a" });
    desk.working[0]?.end(pieces("x", "y"));
    await desk.loop.settle();
    expect(first.outcome).toBe("200");
    expect(desk.working).toHaveLength(1);

    const body = first.response?.body as AsyncIterable<Uint8Array>;
    const seen: string[] = [];
    for await (const piece of body) seen.push(Buffer.from(piece).toString());
    await desk.loop.settle();

    expect(seen).toEqual(["x", "y"]);
    expect(desk.working).toHaveLength(2);
  });

  test.each([
    ["", `${PODS}/a`],
    ["to watch ", `${PODS}?watch=1`],
  ])("%swith a slow reader keeps its seat for at most a minute", async (_, target) => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    desk.send({ user: "a", target });
    desk.working[0]?.end(pieces("x", "y"));
    await desk.loop.advance(50_000);
    desk.send({ user: "a" });
    await desk.loop.settle();
    expect(desk.working).toHaveLength(1);

    await desk.loop.advance(11_000);

    expect(desk.working).toHaveLength(2);
  });

  test("to watch keeps its seat until its initial state is sent", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    const watch = desk.send({ user: "a", target: `${PODS}?watch=1` });
    desk.send({ user: "a" });
    desk.working[0]?.end(pieces());
    await desk.loop.settle();
    expect(watch.outcome).toBe("200");
    expect(desk.working).toHaveLength(1);

    watch.notes.begun();
    await desk.loop.settle();

    expect(desk.working).toHaveLength(2);
  });
});

describe("without priority and fairness", () => {
  test("reads and writes in flight have a bound each, except for administrators", async () => {
    const desk = await Desk.open({ isOn: false, maxReadsInFlight: 2, maxWritesInFlight: 1 });
    desk.send({ user: "a" });
    desk.send({ user: "b" });
    const read = desk.send({ user: "c" });
    desk.send({ user: "c", method: "DELETE" });
    const write = desk.send({ user: "c", method: "DELETE" });
    desk.send({ user: "root", groups: ["system:masters"] });
    await desk.loop.settle();
    expect([read.outcome, write.outcome]).toEqual([REFUSED, REFUSED]);
    expect(desk.working.map(({ user }) => user)).toEqual(["a", "b", "c", "root"]);

    desk.working[0]?.end();
    desk.working[3]?.end();
    await desk.loop.settle();
    desk.send({ user: "d" });

    expect(desk.working.at(-1)?.user).toBe("d");
  });
});

describe("a level", () => {
  test("has its share of the seats, and borrows free ones that others lend", async () => {
    const desk = await Desk.open(245);
    for (let n = 0; n < 1000; n++) desk.send({ user: `user-${String(n)}` });

    // Its own 20, plus the lendable seats of the default levels: 10 of system's 30, 10 of 40, 20 of 40, 90 of 100.
    expect(desk.working).toHaveLength(20 + 10 + 10 + 20 + 90);
    desk.send({ user: "system:kube-scheduler" });
    expect(desk.working.at(-1)?.user).toBe("system:kube-scheduler");
  });

  test("gives more seats to a list of many objects", async () => {
    const desk = await Desk.open(245);
    const target = "/api/v1/namespaces/default/configmaps";
    const create = (n: number): Promise<unknown> =>
      desk.server.send("POST", target, { metadata: { name: `c-${String(n)}` } });
    await desk.done(Promise.all(Array.from({ length: 250 }, (_, n) => create(n))));

    desk.send({ user: "alice", target });
    desk.send({ user: "alice", target: `${target}?limit=50` });

    expect(await desk.metrics.expose()).toContain(
      'apiserver_flowcontrol_current_executing_seats{flow_schema="global-default",priority_level="global-default"} 4',
    );
  });

  test("lets its requests complete when deleted, and its flows move to other levels", async () => {
    const desk = await Desk.open(50);
    await desk.limit(1, QUEUE, ["a"]);
    desk.send({ user: "a" });
    const waiting = desk.send({ user: "a" });
    await desk.done(desk.server.send("DELETE", `${FLOWS}/prioritylevelconfigurations/tight`));

    desk.send({ user: "a" });
    expect(desk.working).toHaveLength(2);
    desk.working[0]?.end();
    await desk.loop.settle();
    desk.working[2]?.end();
    await desk.loop.settle();

    expect(waiting.outcome).toBe("200");
  });
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
