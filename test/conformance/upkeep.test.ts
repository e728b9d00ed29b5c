import { describe, expect, test } from "vitest";
import { ServerFixture } from "../../src/server/upkeep/fixture.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import { virtualTime } from "./open-store-fixture.ts";

const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes";

describe("two servers over one store", () => {
  test("do not correct each other for ever, and the newer one is told to clients", async () => {
    const time = virtualTime({ seed: 1 });
    const store = openMemoryStore({ loop: time.loop.child("store") });
    const ending = new AbortController();
    const first = await ServerFixture.start({ store, loop: time.loop.child("first"), port: 6443 });
    const running = [first.upkeep.run(ending.signal)];
    const second = await ServerFixture.start({ store, loop: time.loop.child("second"), port: 7443 });
    running.push(second.upkeep.run(ending.signal));

    await time.pass(5_000);
    const { revision } = store.view;
    await time.pass(600_000);

    expect(store.view.revision).toBe(revision);
    expect((await first.send("GET", ENDPOINTS)).body["subsets"]).toMatchObject([{ ports: [{ port: 7443 }] }]);

    await first.patch(ENDPOINTS, { subsets: [] });
    await time.pass(5_000);
    expect((await first.send("GET", ENDPOINTS)).body["subsets"]).toMatchObject([
      { addresses: [{ ip: "10.1.2.3" }] },
    ]);

    ending.abort();
    await Promise.all(running);
    await store.close();
    await time.stop();
  });
});
