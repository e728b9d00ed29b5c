/** The pod and service proxies, through clients with sockets. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answered, Folder, RunningCluster } from "./running-cluster.ts";
import { OWN_ADDRESS, serveBeside } from "./served-beside.ts";

const PODS = "/api/v1/namespaces/default/pods";

describe.skipIf(OWN_ADDRESS === undefined)("a pod behind the server", () => {
  const folder = new Folder();
  let cluster: RunningCluster;

  beforeAll(async () => {
    cluster = await RunningCluster.start(folder);
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    await cluster.ask("POST", "/api/v1/namespaces/default/serviceaccounts", { body: account });
    const spec = { containers: [{ name: "main", image: "img" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec };
    expect((await cluster.ask("POST", PODS, { body })).code).toBe(201);
    const status = { phase: "Running", podIP: OWN_ADDRESS, podIPs: [{ ip: OWN_ADDRESS }] };
    const headers = { "content-type": "application/merge-patch+json" };
    const patched = await cluster.ask("PATCH", `${PODS}/web/status`, { body: { status }, headers });
    expect(patched.code).toBe(200);
  });

  afterAll(async () => {
    await cluster.stop();
    folder.remove();
  });

  test.each(["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"])("is asked by %s", async (method) => {
    const port = await serveBeside((request, response) => response.end(`${request.method} ${request.url}`));

    const { code, text } = await cluster.ask(method, `${PODS}/web:${port}/proxy/some/path?a=b`);

    expect([code, text]).toEqual([200, `${method} /some/path?a=b`]);
  });

  test.each(["GET", "HEAD"])("is looked at by %s from its root on", async (method) => {
    const base = `${PODS}/web:80/proxy`;

    const { code, headers } = await cluster.ask(method, `${base}?a=b`);

    expect([code, headers["location"]]).toEqual([301, `${base}/?a=b`]);
  });

  test("is not looked for at another host", async () => {
    const { code, headers } = await cluster.ask("GET", `${cluster.server}/${PODS}/web:80/proxy`);

    expect([code, headers["location"]]).toEqual([400, undefined]);
  });

  test("gets a request at its root through any method", async () => {
    const port = await serveBeside((request, response) => response.end(request.url));

    expect((await cluster.ask("POST", `${PODS}/web:${port}/proxy?a=b`)).text).toBe("/?a=b");
  });

  test("gets the host that the client asked, and the client's address", async () => {
    const port = await serveBeside(({ headers }, response) =>
      response.end(JSON.stringify([headers.host, headers["x-forwarded-for"]])),
    );

    const { text } = await cluster.ask("GET", `${PODS}/web:${port}/proxy/`);

    expect(JSON.parse(text)).toEqual([new URL(cluster.server).host, "127.0.0.1"]);
  });

  describe("shows pages with links that lead through the server", () => {
    const page = (own: string): string =>
      `<p>é</p><a href="/rewriteme">1</a><a href="other">2</a><a href="http://${own}/x?y">3</a><a href="//example.com/">4</a>`;

    async function see(answer: (page: string) => [headers: Record<string, string>, body: Buffer]): Promise<{
      readonly seen: Answered;
      readonly expected: string;
    }> {
      const port: number = await serveBeside((_, response) => {
        const [headers, body] = answer(page(`${OWN_ADDRESS ?? ""}:${port}`));
        response.writeHead(200, { ...headers, "content-length": String(body.length) }).end(body);
      });
      const base = `${PODS}/web:${port}/proxy`;
      const links = [`${base}/rewriteme`, "other", `${base}/x?y`, "//example.com/"];
      const expected = `<p>é</p>${links.map((link, at) => `<a href="${link}">${at + 1}</a>`).join("")}`;
      return { seen: await cluster.ask("GET", `${base}/`), expected };
    }

    test("as they are sent", async () => {
      const { seen, expected } = await see((text) => [
        { "content-type": "text/html; charset=utf-8" },
        Buffer.from(text),
      ]);

      expect(seen.text).toBe(expected);
    });

    test("also when they are packed", async () => {
      const { seen, expected } = await see((text) => [
        { "content-type": "text/html", "content-encoding": "gzip" },
        gzipSync(text),
      ]);

      expect([seen.headers["content-encoding"], seen.text]).toEqual([undefined, expected]);
    });

    test("and leaves alone what is no page", async () => {
      const { seen } = await see((text) => [{ "content-type": "text/plain" }, Buffer.from(text)]);

      expect(seen.text).toContain('<a href="/rewriteme">');
    });
  });
});
