/** API aggregation with the real kubectl. */
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listOf } from "../api-harness.ts";
import { describePeer } from "../peers.ts";
import { AggregationFixture, GROUP, VERSION } from "./aggregation-fixture.ts";

const NAME = `${VERSION}.${GROUP}`;
const API = `/apis/${GROUP}/${VERSION}`;
const FLUNDERS = `${API}/namespaces/default/flunders`;

async function readAll(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  if (!socket.closed) await once(socket, "close");
  return text;
}

function upgrade(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n`;
}

function flunder(name: string): object {
  return { apiVersion: `${GROUP}/${VERSION}`, kind: "Flunder", metadata: { name } };
}

describePeer("kubectl", "an API of another server", (path) => {
  let world: AggregationFixture;
  beforeAll(async () => {
    world = await AggregationFixture.start(path, {
      loops: ["namespace-controller", "serviceaccount-controller"],
      nodes: 0,
    });
    await world.kubectl.ok("apply", "-f", world.manifest());
    await world.kubectl.ok("wait", "--for=condition=Available", `apiservice/${NAME}`, "--timeout=10s");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  describe("that is there", () => {
    test("is available, and says who serves it", async () => {
      const said = await world.kubectl.ok("get", "apiservice", NAME, "--no-headers");
      const { status } = await world.kubectl.json("get", "apiservice", NAME);

      expect(said).toMatch(/^v1alpha1\.wardle\.example\.com +wardle\/api +True +/);
      expect(status?.["conditions"]).toMatchObject([
        { type: "Available", status: "True", reason: "Passed", message: "all checks passed" },
      ]);
    });

    test("is found in every form of discovery", async () => {
      const { kubectl } = world;
      const listed = await kubectl.ok("api-resources", `--api-group=${GROUP}`, "--no-headers");
      const versions = await kubectl.ok("api-versions");
      const group = JSON.parse(await kubectl.ok("get", "--raw", `/apis/${GROUP}`)) as unknown;

      expect(listed).toMatch(/^flunders +fl +wardle\.example\.com\/v1alpha1 +true +Flunder\n$/);
      expect(versions).toContain(`${GROUP}/${VERSION}\n`);
      expect(group).toMatchObject({ name: GROUP, preferredVersion: { version: VERSION } });
    });

    test("has its schema beside those of this server", async () => {
      const { kubectl } = world;
      const index = JSON.parse(await kubectl.ok("get", "--raw", "/openapi/v3")) as {
        paths: Record<string, { serverRelativeURL: string } | undefined>;
      };
      const address = index.paths[API.slice(1)]?.serverRelativeURL ?? "";

      expect(Object.keys(index.paths)).toContain("apis/apps/v1");
      expect(address).toBe(`/openapi/v3${API}?hash=OLD`);
      expect(JSON.parse(await kubectl.ok("get", "--raw", address))).toMatchObject({
        components: { schemas: { Flunder: { type: "object" } } },
      });
    });

    test("is used like any other: create, get, watch, delete", async () => {
      const { kubectl, extension } = world;
      await kubectl.ok("create", "-f", kubectl.file("one.json", flunder("one")));
      const names: string[] = [];
      const watch = kubectl.lines("get", "flunders", "--watch", "--no-headers", "-o", "name");
      const watched = (async () => {
        for await (const line of watch) if (names.push(line) === 2) return;
      })();
      await expect.poll(() => extension.watchers).toBe(1);

      await kubectl.ok("create", "-f", kubectl.file("two.json", flunder("two")));
      await watched;
      const got = await kubectl.ok("get", "fl", "two", "-o", "name");
      await kubectl.ok("delete", "flunder", "one", "two", "--wait=false");

      expect(names).toEqual(["flunder.wardle.example.com/one", "flunder.wardle.example.com/two"]);
      expect(got).toBe("flunder.wardle.example.com/two\n");
      await expect.poll(() => extension.watchers).toBe(0);
    });

    test("is told who asks by this server alone, whatever the client says", async () => {
      const { extension } = world;
      const socket = await world.socket("admin");
      extension.seen.length = 0;

      socket.write(
        `GET ${FLUNDERS}?spoof=1 HTTP/1.1\r\nhost: a\r\nconnection: close, x-of-connection\r\n` +
          "x-remote-user: evil\r\nx-remote-group: evil\r\nx-remote-extra-role: evil\r\nx-remote-uid: evil\r\n" +
          "x-of-connection: 1\r\nx-kept: 1\r\nproxy-authorization: Basic eDp5\r\nkeep-alive: 5\r\n\r\n",
      );

      expect(await readAll(socket)).toMatch(/^HTTP\/1.1 200 /);
      const [seen] = extension.seen;
      expect(seen?.proxy).toBe("front-proxy-client");
      expect(seen?.headers).toMatchObject({ "x-remote-user": "kubernetes-admin", "x-kept": "1" });
      expect(seen?.headers["x-remote-group"]).toBe(
        "system:masters, kubeadm:cluster-admins, system:authenticated",
      );
      const texts = JSON.stringify(seen?.headers);
      for (const text of ["evil", "x-of-connection", "proxy-authorization", '"keep-alive":'])
        expect(texts).not.toContain(text);
    });

    test("sees nothing of those who may not", async () => {
      const { kubectl, extension } = world;
      extension.seen.length = 0;

      const said = await kubectl.refused("get", "--raw", FLUNDERS, "--as=bob");

      expect(said).toContain('User "bob" cannot list resource "flunders" in API group "wardle.example.com"');
      expect(extension.seen.filter(({ url }) => url.startsWith(FLUNDERS))).toEqual([]);
    });

    test("sees the user who is impersonated, and not the headers that say so", async () => {
      const { kubectl, extension } = world;
      extension.seen.length = 0;

      await kubectl.ok("get", "--raw", FLUNDERS, "--as=eve", "--as-group=system:masters");

      const seen = extension.seen.find(({ url }) => url === FLUNDERS);
      expect(seen?.headers["x-remote-user"]).toBe("eve");
      expect(JSON.stringify(seen?.headers)).not.toContain("impersonate");
    });

    test("cannot send clients elsewhere", async () => {
      const socket = await world.socket("admin");

      socket.write(`GET ${API}/redirect HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);

      const said = await readAll(socket);
      expect(said).toMatch(/^HTTP\/1.1 502 /);
      expect(said).toContain("the backend attempted to redirect this request, which is not permitted");
      expect(said).not.toContain("elsewhere");
    });

    test.each([
      "flunders/%2e%2e/secrets",
      "namespaces/default/flunders/x%2F..%2F..%2F..%2Fdefault%2Fsecrets",
      "namespaces/default/flunders%2fx%2fsecrets",
      "namespaces/default/flunders/x%2Fsecrets",
      "namespaces/default/flunders/x/log/..%2f..%2fsecrets",
    ])("is not reached under another path than the one that was allowed: %s", async (asked) => {
      const socket = await world.socket("admin");
      world.extension.seen.length = 0;

      socket.write(`GET ${API}/${asked} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);

      expect(await readAll(socket)).toMatch(/^HTTP\/1.1 400 /);
      expect(world.extension.seen.filter(({ url }) => url.includes("secrets"))).toEqual([]);
    });

    test("gets what follows a subresource as it was sent", async () => {
      const socket = await world.socket("admin");
      world.extension.seen.length = 0;
      const asked = "namespaces/default/flunders/x/proxy/a%2Fb";

      socket.write(`GET ${API}/${asked} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);

      await readAll(socket);
      expect(world.extension.seen.map(({ url }) => url)).toContain(`${API}/${asked}`);
    });
  });

  describe("that may switch protocols", () => {
    test("is joined with the client once it has agreed", async () => {
      const socket = await world.socket("admin");
      socket.write(`${upgrade(`${FLUNDERS}/one/echo`)}early`);
      let text = "";
      socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
      await expect.poll(() => text).toContain("early");

      socket.write(" late");

      await expect.poll(() => text).toMatch(/^HTTP\/1.1 101 [^]*\r\n\r\nearly late$/);
      socket.destroy();
    });

    test("gets no byte more than the request when it has not agreed", async () => {
      const { extension } = world;
      const socket = await world.socket("admin");
      extension.upgradeBytes.length = 0;

      const hidden = `GET ${FLUNDERS}/hidden HTTP/1.1\r\nhost: a\r\nx-remote-user: evil\r\n\r\n`;
      socket.write(upgrade(`${FLUNDERS}/one/refused`) + hidden);

      const said = await readAll(socket);
      expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(said).toMatch(/^HTTP\/1.1 400 [^]*\r\n\r\nno$/);
      expect(Buffer.concat(extension.upgradeBytes).toString()).toBe("");
      expect(extension.seen.filter(({ url }) => url.includes("hidden"))).toEqual([]);
    });

    test("is not asked when the client may not", async () => {
      const { extension } = world;
      const socket = await world.socket("nobody");
      extension.seen.length = 0;

      socket.write(`${upgrade(`${FLUNDERS}/one/echo`)}GET ${FLUNDERS} HTTP/1.1\r\nhost: a\r\n\r\n`);

      const said = await readAll(socket);
      expect(said).toMatch(/^HTTP\/1.1 40[13] /);
      expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(extension.seen.filter(({ url }) => url.startsWith(FLUNDERS))).toEqual([]);
    });
  });

  describe("that goes away", () => {
    beforeAll(async () => {
      await world.kubectl.ok("create", "namespace", "held");
      await world.extension.close();
    });

    test("becomes unavailable, with the reason, soon after a request failed", async () => {
      const { kubectl } = world;
      const said = await kubectl.refused("get", "flunders");

      await kubectl.ok("wait", "--for=condition=Available=False", `apiservice/${NAME}`, "--timeout=10s");

      expect(said).toContain("ServiceUnavailable");
      const { status } = await kubectl.json("get", "apiservice", NAME);
      const [condition] = listOf<{ reason: string; message: string }>(status?.["conditions"]);
      expect(condition?.reason).toBe("FailedDiscoveryCheck");
      expect(condition?.message).toMatch(
        /^failing or missing response from (https:\/\/api\.wardle\.svc:\d+\/apis\/wardle\.example\.com\/v1alpha1): Get "\1": dial tcp .*: connect: connection refused$/,
      );
    });

    test("is missing from what kubectl lists, and marked as stale in discovery, and nothing else is", async () => {
      const listed = await world.kubectl.ok("api-resources", "--no-headers");
      const socket = await world.socket("admin");
      socket.write(
        "GET /apis HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" +
          "accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n\r\n",
      );

      const [, body = ""] = (await readAll(socket)).split("\r\n\r\n");
      const { items } = JSON.parse(body) as { items: { versions: { freshness: string }[] }[] };
      expect(listed).toContain("deployments");
      expect(listed).not.toContain("flunders");
      const versions = items.flatMap((group) => group.versions);
      expect(versions.filter(({ freshness }) => freshness === "Stale")).toMatchObject([{ version: VERSION }]);
    });

    test("holds up the end of namespaces, which say why", async () => {
      const { kubectl } = world;
      await kubectl.ok("delete", "namespace", "held", "--wait=false");

      const type = "NamespaceDeletionDiscoveryFailure";
      await kubectl.ok("wait", `--for=condition=${type}`, "namespace/held", "--timeout=10s");

      const { status } = await kubectl.json("get", "namespace", "held");
      const conditions = listOf<{ type: string; message: string }>(status?.["conditions"]);
      expect(conditions.find((each) => each.type === type)?.message).toBe(
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: " +
          `${GROUP}/${VERSION}: the server is currently unable to handle the request`,
      );
    });

    test("holds up nothing any more once it is no longer registered", async () => {
      const { kubectl } = world;

      await kubectl.ok("delete", "apiservice", NAME);
      await kubectl.ok("wait", "--for=delete", "namespace/held", "--timeout=15s");

      expect(await kubectl.ok("api-resources", "--no-headers")).not.toContain(GROUP);
    });
  });
});
