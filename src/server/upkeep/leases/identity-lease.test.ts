import { beforeEach, describe, expect, test } from "vitest";
import type { Seen } from "../../access/authn/fixture.ts";
import { listAt, textAt } from "../fixture.ts";
import { SharedStoreFixture } from "../shared-store-fixture.ts";
import type { RunningServer } from "../shared-store-fixture.ts";
import { serverIdentity } from "./identity-lease.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

let world: SharedStoreFixture;

beforeEach(() => {
  world = new SharedStoreFixture();
});

async function start(hostname: string): Promise<RunningServer> {
  const running = await world.startRunning({ hostname });
  await world.loop.advance(1000);
  return running;
}

async function leases({ server }: RunningServer): Promise<readonly Seen[]> {
  const { body } = await world.done(server.send("GET", LEASES));
  return listAt(body, "items");
}

describe("the lease of a server", () => {
  test("the Lease has the same name as upstream's for this host", () => {
    expect(serverIdentity("kind-control-plane")).toBe("apiserver-c7uylvfxlbqccnk6myfkwetzze");
  });

  test("the Lease names the host and the server, and is renewed", async () => {
    const one = await start("one.example");
    const [before] = await leases(one);
    await world.loop.advance(10_000);
    const [after] = await leases(one);
    const name = serverIdentity("one.example");

    expect(before).toMatchObject({
      metadata: {
        name,
        labels: {
          "apiserver.kubernetes.io/identity": "kube-apiserver",
          "kubernetes.io/hostname": "one.example",
        },
      },
      spec: {
        holderIdentity: expect.stringMatching(new RegExp(`^${name}_[0-9a-f-]{36}$`)) as unknown,
        leaseDurationSeconds: 3600,
      },
    });
    const renewals = [before, after].map((each) => Date.parse(textAt(each ?? {}, "spec", "renewTime")));
    expect((renewals[1] ?? 0) - (renewals[0] ?? 0)).toBe(10_000);
    expect(textAt(after ?? {}, "spec", "holderIdentity")).toBe(
      textAt(before ?? {}, "spec", "holderIdentity"),
    );
    await one.end();
  });

  test("a stopping server deletes its Lease", async () => {
    const one = await start("one");
    const two = await start("two");

    await two.end();

    expect((await leases(one)).map((each) => textAt(each, "metadata", "name"))).toEqual([
      serverIdentity("one"),
    ]);
    await one.end();
  });

  test("the Lease of a dead server is deleted after an hour, and other Leases are not", async () => {
    const one = await start("one");
    const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
    const spec = { leaseDurationSeconds: 3600, renewTime: "1970-01-01T00:00:00.000000Z" };
    await world.done(one.server.send("POST", LEASES, { metadata: { name: "dead", labels }, spec }));
    await world.done(one.server.send("POST", LEASES, { metadata: { name: "termless", labels } }));
    await world.done(one.server.send("POST", LEASES, { metadata: { name: "leader" }, spec }));

    await world.loop.advance(3_700_000);

    expect((await leases(one)).map((each) => textAt(each, "metadata", "name"))).toEqual([
      serverIdentity("one"),
      "leader",
    ]);
    await one.end();
  });
});
