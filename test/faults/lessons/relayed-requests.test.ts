/**
 * The authorized request is the one that is carried out: an extension server gets only requests that mean, by its own reading of method and
 * URL, what the user was allowed. Requests come over HTTP/2, where a client may send any method and path.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { createServer } from "node:https";
import type { Server } from "node:https";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { listening, makeAuthority } from "../../../src/server/egress/fixture.ts";
import { Folder, RunningCluster } from "../../conformance/running-cluster.ts";

const VERSION = "wardle.example.com/v1alpha1";
const API = `/apis/${VERSION}`;
const FLUNDERS = `${API}/namespaces/default/flunders`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly user: string;
}

const RESOURCES = JSON.stringify({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: VERSION,
  resources: [
    { name: "flunders", singularName: "flunder", namespaced: true, kind: "Flunder", verbs: ["get", "list"] },
  ],
});

/** A server with an extension server that records its requests. */
class World implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #folder = new Folder();
  #cluster: RunningCluster | undefined;
  #session: ClientHttp2Session | undefined;
  #extension: Server | undefined;

  async start(): Promise<void> {
    const cluster = await RunningCluster.start(this.#folder, { store: { type: "memory" } });
    this.#cluster = cluster;
    const authority = await makeAuthority("extension");
    const pair = await authority.leaf(["api.default.svc"]);
    this.#extension = createServer(pair, ({ method = "", url = "", headers }, response) => {
      this.seen.push({ method, url, user: String(headers["x-remote-user"]) });
      response.setHeader("content-type", "application/json");
      response.end(url === API ? RESOURCES : '{"secret":"of the extension server"}');
    });
    const port = await listening(this.#extension);
    const post = async (path: string, body: object): Promise<void> => {
      expect((await cluster.ask("POST", path, { body })).code).toBe(201);
    };
    await post("/api/v1/namespaces/default/services", {
      metadata: { name: "api" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    await post("/apis/apiregistration.k8s.io/v1/apiservices", registration(port, authority.cert));
    const rules = [{ apiGroups: ["wardle.example.com"], resources: ["flunders"], verbs: ["get", "list"] }];
    const subjects = [{ apiGroup: GROUP, kind: "User", name: "reader" }];
    await post(`${RBAC}/namespaces/default/roles`, { metadata: { name: "r" }, rules });
    await post(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: "r" },
      roleRef: { apiGroup: GROUP, kind: "Role", name: "r" },
      subjects,
    });
    const isServed = async (): Promise<void> =>
      expect((await cluster.ask("GET", `${FLUNDERS}/a`)).code).toBe(200);
    await vi.waitFor(isServed, { timeout: 20_000, interval: 50 });
    this.seen.length = 0;
    this.#session = connect(cluster.server, {
      ...Object.fromEntries(
        Object.entries({ ca: "ca.crt", cert: "admin.crt", key: "admin.key" }).map(([option, file]) => [
          option,
          readFileSync(join(cluster.dataDir, "pki", file)),
        ]),
      ),
    });
  }

  /** Sends the request as this user; returns the status code, or 0 if the stream was reset. */
  send(user: string, method: string, path: string): Promise<number> {
    const session = this.#session;
    if (session === undefined) throw new Error("the world has not started");
    return new Promise((resolve) => {
      let status = 0;
      const stream = session.request({ ":method": method, ":path": path, "impersonate-user": user });
      stream.on("response", (headers) => (status = headers[":status"] ?? 0));
      stream.on("error", () => undefined);
      stream.on("close", () => resolve(status));
      stream.resume();
      stream.end();
    });
  }

  /** Requests for a user that reached the extension server since the last call. */
  take(user: string): readonly string[] {
    const taken = this.seen.splice(0).filter((one) => one.user === user);
    return taken.map(({ method, url }) => `${method} ${url}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session?.destroy();
    await this.#cluster?.stop();
    this.#extension?.closeAllConnections();
    this.#extension?.close();
    this.#folder.remove();
  }
}

function registration(port: number, ca: string): object {
  return {
    metadata: { name: "v1alpha1.wardle.example.com" },
    spec: {
      group: "wardle.example.com",
      version: "v1alpha1",
      groupPriorityMinimum: 2000,
      versionPriority: 100,
      service: { name: "api", namespace: "default", port },
      caBundle: Buffer.from(ca).toString("base64"),
    },
  };
}

/** Documents that every user may read. */
const DOCUMENT = /^(?:GET|HEAD) (?:\/openapi\/v3)?\/apis\/wardle\.example\.com\/v1alpha1(?:\?.*)?$/;
/** Further requests that the reader may make, as most servers parse a URL. */
const READ =
  /^(?:GET|HEAD) \/apis\/wardle\.example\.com\/v1alpha1\/namespaces\/default\/flunders(?:\/[^/?]+)?(?:\?.*)?$/;
const STEPS = /(?:^|\/)\.{0,2}(?:\/|$)|[\\\0]/;

/** Whether a server that decodes the path and resolves dots reads it the same way. */
function isPlain(request: string): boolean {
  const [path = ""] = request.slice(request.indexOf(" ") + 2).split("?", 1);
  return (
    !STEPS.test(decodeURIComponent(path)) &&
    decodeURIComponent(path).split("/").length === path.split("/").length
  );
}

describe("an extension server", () => {
  const world = new World();
  beforeAll(() => world.start());
  afterAll(() => world[Symbol.asyncDispose]());

  test.each([
    ["get", FLUNDERS],
    ["Get", `${API}/flunders`],
    ["GET", `${FLUNDERS}/%ff`],
    ["GET", `${FLUNDERS}/a%`],
    ["GET", `${API}/%ff`],
    ["GET", `${API}//flunders`],
    ["GET", `/apis/${VERSION}/watch`],
    ["GET", `${API}/..%2fflunders`],
    ["GET", `//apis/${VERSION}/flunders`],
    ["OPTIONS", FLUNDERS],
    ["POST", API],
    ["GET", `/openapi/v3${API}/flunders`],
    ["GET", `/openapi/v3${API}/%ff`],
  ])("gets nothing of %s %s from a user without roles", async (method, path) => {
    const status = await world.send("stranger", method, path);

    expect([status >= 400, world.take("stranger")]).toEqual([true, []]);
  });

  test("gets nothing but what each user may, however requests are written", async () => {
    const methods = fc.constantFrom("GET", "HEAD", "get", "POST", "DELETE", "OPTIONS", "TRACE", "Get", "PUT");
    const words = ["namespaces", "default", "flunders", "a", "watch", "proxy", "other", "status", "secrets"];
    const odd = [
      "",
      ".",
      "..",
      "%2e%2e",
      "%ff",
      "%",
      "%2f",
      "a%2fb",
      "%5c",
      "a;b",
      "%00",
      "%64efault",
      "%20",
    ];
    const part = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, fc.constantFrom(...odd));
    const head = fc.constantFrom(
      `${API}/`,
      API,
      `${FLUNDERS}/`,
      FLUNDERS,
      `/openapi/v3${API}/`,
      `//apis/${VERSION}/`,
    );
    const query = fc.constantFrom("", "?watch=1", "?fieldSelector=metadata.name%3Da", "?a=%zz;b&watch");
    const path = fc
      .tuple(head, fc.array(part, { maxLength: 5 }), query)
      .map(([start, parts, search]) => start + parts.join("/") + search);

    await fc.assert(
      fc.asyncProperty(methods, path, async (method, target) => {
        for (const [user, allowed] of [
          ["stranger", [DOCUMENT]],
          ["reader", [DOCUMENT, READ]],
        ] as const) {
          await world.send(user, method, target);
          const got = world.take(user);
          expect(got.filter((one) => !isPlain(one) || !allowed.some((pattern) => pattern.test(one)))).toEqual(
            [],
          );
        }
      }),
      { numRuns: 400, seed: 3 },
    );
  });

  test("gets what a user may read, with the query as it was understood", async () => {
    const status = await world.send("reader", "GET", `${FLUNDERS}/%61?x=1&a=b%20c;d&e=%zz`);

    expect([status, world.take("reader")]).toEqual([200, [`GET ${FLUNDERS}/a?x=1&a=b+c%3Bd&e=%25zz`]]);
  });
});
