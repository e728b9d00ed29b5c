/**
 * An authenticated client keeps its share of the server's thread, whatever an attacker varies in its requests: no unverified property of a
 * request gives a client more turns. The test judges the order in which requests run.
 */
import { Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { isApiError } from "../../../src/api/errors/api-error.ts";
import { silentLog } from "../../../src/base/log/log.ts";
import { VirtualLoop } from "../../../src/base/loop/virtual/virtual-loop.ts";
import { anonymous } from "../../../src/server/access/authn/anonymous.ts";
import { authenticate } from "../../../src/server/access/authn/authentication.ts";
import { bearer, BearerTokens } from "../../../src/server/access/authn/bearer-tokens.ts";
import { certificate } from "../../../src/server/access/authn/certificate.ts";
import { frontProxy } from "../../../src/server/access/authn/front-proxy.ts";
import { fileTokens } from "../../../src/server/access/authn/token-file.ts";
import type { HttpHandler, HttpResponse, PeerIdentity } from "../../../src/server/request/http.ts";
import { parseRequest } from "../../../src/server/request/parse-request.ts";
import { isUrgent } from "../../../src/server/request/parse-request.ts";
import { RequestNotes } from "../../../src/server/request/request-notes.ts";
import { ClientConnection } from "../../../src/server/transport/client-connection.ts";
import { HttpExchange } from "../../../src/server/transport/http-exchange.ts";
import type { AnswerHead, ExchangeParts, Wire } from "../../../src/server/transport/http-exchange.ts";
import { KnownCredentials } from "../../../src/server/transport/known-credentials.ts";
import { DEFAULT_LIMITS } from "../../../src/server/transport/limits.ts";
import { BodyBudget } from "../../../src/server/transport/receive-body.ts";
import { RequestQueue } from "../../../src/server/transport/request-queue.ts";

const FLOOD = 600;
const VICTIM_REQUESTS = 20;
const TARGET = "/api/v1/namespaces/default/configmaps/a";

interface Sent {
  readonly method?: string;
  readonly target?: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  readonly peer?: PeerIdentity;
  readonly address?: string;
  /** Requests with the same name use one connection. */
  readonly connection?: string;
}

const VICTIM: Sent = {
  headers: ["authorization", "Bearer victim-token"],
  address: "192.0.2.7",
  connection: "victim",
};

class World {
  readonly loop = new VirtualLoop({ seed: 1 });
  /** Users in the order in which their requests ran; status codes of refused requests. */
  readonly order: string[] = [];
  readonly #credentials = new KnownCredentials();
  readonly #connections = new Map<string, ClientConnection>();
  readonly #parts: ExchangeParts;

  constructor() {
    const { loop } = this;
    this.#parts = {
      loop,
      log: silentLog,
      handler: this.#handler(),
      limits: DEFAULT_LIMITS,
      budget: new BodyBudget(DEFAULT_LIMITS.maxReceivingBytes),
      queue: new RequestQueue({ loop, isUrgent }),
    };
  }

  send({
    method = "GET",
    target = TARGET,
    headers = [],
    peer,
    address = "203.0.113.9",
    connection = "",
  }: Sent) {
    const key = `${address} ${connection}`;
    const client =
      this.#connections.get(key) ??
      new ClientConnection({
        loop: this.loop,
        peer,
        remoteAddress: address,
        number: this.#connections.size,
        credentials: this.#credentials,
      });
    this.#connections.set(key, client);
    const wire = wireOf(headers, address, (status) => {
      if (status !== 200) this.order.push(String(status));
    });
    new HttpExchange({ method, target, client, wire }, this.#parts).start();
  }

  #handler(): HttpHandler {
    const listed = [
      { token: "victim-token", user: { name: "victim", uid: "", groups: [], extra: {} } },
      { token: "attacker-token", user: { name: "attacker", uid: "", groups: [], extra: {} } },
    ];
    const tokens = new BearerTokens([fileTokens(listed, Buffer.alloc(32))], []);
    const stage = authenticate([
      certificate,
      frontProxy([]),
      bearer(tokens),
      anonymous({ enabled: true, paths: [] }),
    ]);
    return (request) => {
      const { info, query } = parseRequest(request.method, request.target);
      const notes = new RequestNotes(request);
      const exchange = { request, query, info, user: undefined, notes };
      try {
        const reply = stage(exchange, ({ user }) => {
          this.order.push(user?.name ?? "");
          return OK;
        });
        return reply instanceof Promise ? reply.catch(refusal) : reply;
      } catch (error) {
        return refusal(error);
      }
    };
  }
}

const OK: HttpResponse = { status: 200, headers: new Map(), body: new Uint8Array() };

function refusal(error: unknown): HttpResponse {
  if (!isApiError(error)) throw error;
  return { ...OK, status: error.code };
}

/** One end of a connection that carries one request without a body. */
function wireOf(
  rawHeaders: readonly string[],
  remoteAddress: string,
  onAnswer: (status: number) => void,
): Wire {
  const outgoing = new Writable();
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.set(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return {
    incoming: Readable.from([]),
    outgoing,
    remoteAddress,
    rawHeaders,
    announcedBytes: 0,
    isWhole: () => true,
    readHeaders: () => headers,
    inviteBody: () => undefined,
    answer: ({ status }: AnswerHead) => onAnswer(status),
    begin: () => undefined,
    write: () => true,
    drains: outgoing,
    cut: () => undefined,
  };
}

/** Each varies one unverified property, or all of them. */
const ATTACKS: Readonly<Record<string, (n: number) => Sent>> = {
  "random tokens": (n) => ({ headers: ["authorization", `Bearer ${String(n)}`] }),
  "random schemes": (n) => ({ headers: ["authorization", `Scheme${String(n)} a`] }),
  "text behind a valid token": (n) => ({ headers: ["authorization", `Bearer attacker-token ${String(n)}`] }),
  "text behind the victim's token": (n) => ({
    headers: ["authorization", `Bearer victim-token ${String(n)}`],
  }),
  "several Authorization headers": (n) => ({
    headers: ["authorization", "Bearer attacker-token", "authorization", `Bearer ${String(n)}`],
  }),
  "WebSocket tokens": (n) => ({
    headers: [
      "upgrade",
      "websocket",
      "sec-websocket-protocol",
      `base64url.bearer.authorization.k8s.io.${Buffer.from(String(n)).toString("base64url")}, v4.channel.k8s.io`,
    ],
  }),
  "names of a front proxy": (n) => ({ headers: ["x-remote-user", `user-${String(n)}`] }),
  "certificates of another authority": (n) => ({
    peer: { user: "", groups: [], role: "stranger" },
    headers: ["x-remote-user", `user-${String(n)}`],
  }),
  "user agents": (n) => ({ headers: ["user-agent", `agent-${String(n)}`] }),
  paths: (n) => ({ target: `/api/v1/namespaces/${String(n)}/pods` }),
  "paths of probes": (n) => ({ target: `/livez?n=${String(n)}` }),
  "paths of leases": (n) => ({
    method: "PUT",
    target: `/apis/coordination.k8s.io/v1/namespaces/a/leases/${String(n)}`,
    headers: ["authorization", `Bearer ${String(n)}`],
  }),
  connections: (n) => ({ connection: String(n) }),
  "addresses of one IPv6 network": (n) => ({
    address: `2001:db8::${n.toString(16)}`,
    connection: String(n),
  }),
  "everything at once": (n) => ({
    method: ["GET", "PUT", "get", "X"][n % 4] ?? "",
    target:
      n % 3 === 0 ? `/readyz/${String(n)}` : `/apis/coordination.k8s.io/v1/namespaces/a/leases/${String(n)}`,
    headers: ["authorization", `Bearer ${String(n)}`, "x-remote-user", String(n), "user-agent", String(n)],
    address: `198.51.${String(n % 200)}.1`,
    connection: String(n),
  }),
};

/** Number of urgent requests that go first: the budget of one user or address. */
const URGENT_MAX = 200;
const PROBING = new Set(["paths of probes", "everything at once"]);
/** Number of requests of one owner that run together while no other owner waits. */
const TURNS_ALONE = 16;

describe("a verified client gets every second turn while an attacker varies", () => {
  test.each(Object.entries(ATTACKS))("%s", async (name, attack) => {
    const world = new World();
    world.send(VICTIM);
    await world.loop.settle();
    world.order.length = 0;

    for (let n = 0; n < FLOOD; n++) world.send(attack(n));
    for (let n = 0; n < VICTIM_REQUESTS; n++) world.send(VICTIM);
    await world.loop.settle();

    const served = world.order.lastIndexOf("victim") + 1;
    expect(world.order.filter((user) => user === "victim")).toHaveLength(VICTIM_REQUESTS);
    expect(world.order).toHaveLength(FLOOD + VICTIM_REQUESTS);
    expect(served - (PROBING.has(name) ? URGENT_MAX : 0)).toBeLessThanOrEqual(2 * VICTIM_REQUESTS + 1);
  });
});

test("a client that is not verified yet waits for no more than the requests that are carried out together", async () => {
  const world = new World();

  for (let n = 0; n < FLOOD; n++) world.send({ headers: ["authorization", `Bearer ${String(n)}`] });
  world.send(VICTIM);
  await world.loop.settle();

  expect(world.order.indexOf("victim")).toBeLessThanOrEqual(TURNS_ALONE);
});

describe("a user", () => {
  test("gets no second share by another connection, protocol or spelling of the same token", async () => {
    const world = new World();
    const spellings = ["Bearer attacker-token", "bearer attacker-token", "BEARER attacker-token"];
    const asAttacker = (n: number): Sent => ({
      headers: ["authorization", spellings[n % 3] ?? ""],
      address: `198.51.100.${String(n % 50)}`,
      connection: String(n % 100),
    });
    for (let n = 0; n < 300; n++) world.send(asAttacker(n));
    world.send(VICTIM);
    await world.loop.settle();
    world.order.length = 0;

    for (let n = 0; n < FLOOD; n++) world.send(asAttacker(n));
    for (let n = 0; n < VICTIM_REQUESTS; n++) world.send(VICTIM);
    await world.loop.settle();

    expect(world.order.lastIndexOf("victim") + 1).toBeLessThanOrEqual(2 * VICTIM_REQUESTS);
  });

  test("gets no more than its budget of urgent turns by writing leases", async () => {
    const world = new World();
    const attacker = ["authorization", "Bearer attacker-token"];
    world.send({ headers: attacker });
    world.send(VICTIM);
    await world.loop.settle();
    world.order.length = 0;

    for (let n = 0; n < FLOOD; n++) {
      const target = `/apis/coordination.k8s.io/v1/namespaces/a/leases/${String(n)}`;
      world.send({ method: "PUT", target, headers: attacker });
    }
    for (let n = 0; n < VICTIM_REQUESTS; n++) world.send(VICTIM);
    await world.loop.settle();

    expect(world.order.lastIndexOf("victim") + 1 - URGENT_MAX).toBeLessThanOrEqual(2 * VICTIM_REQUESTS);
  });

  test("whose token is refused later takes turns of its connection again", async () => {
    const world = new World();
    const header = ["authorization", "Bearer attacker-token"];
    world.send({ headers: header });
    await world.loop.settle();

    world.send({ headers: ["authorization", "Bearer attacker-token x"] });
    world.send({ headers: ["authorization", "Bearer a", "authorization", "Bearer a"] });
    await world.loop.settle();

    expect(world.order).toEqual(["attacker", "401", "401"]);
  });

  test("behind a front proxy has turns of its own", async () => {
    const world = new World();
    const peer: PeerIdentity = { user: "proxy", groups: [], role: "front-proxy" };
    const as = (user: string): Sent => ({ peer, headers: ["x-remote-user", user], connection: "proxy" });

    for (let n = 0; n < FLOOD; n++) world.send(as("flood"));
    for (let n = 0; n < VICTIM_REQUESTS; n++) world.send(as("victim"));
    await world.loop.settle();

    expect(world.order.lastIndexOf("victim") + 1).toBeLessThanOrEqual(2 * VICTIM_REQUESTS);
  });
});
