import { describe, expect, test } from "vitest";
import { ServerFixture } from "../../upkeep/fixture.ts";
import type { FixtureReply } from "../../upkeep/fixture.ts";

const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

function create(server: ServerFixture, name: string, globalDefault: boolean): Promise<FixtureReply> {
  return server.send("POST", CLASSES, { metadata: { name }, value: 10, globalDefault });
}

describe("the default PriorityClass", () => {
  test("is unique: create and update refuse a second one", async () => {
    const server = await ServerFixture.start();
    await create(server, "first", true);
    await create(server, "second", false);

    const third = await create(server, "third", true);
    const second = await server.patch(`${CLASSES}/second`, { globalDefault: true });

    expect(third).toMatchObject({ code: 403, body: { reason: "Forbidden" } });
    expect(second.body["message"]).toBe(
      'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass first is already marked as default. Only one default can exist',
    );
  });

  test("may be updated, and another class may become the default once it gives up the flag", async () => {
    const server = await ServerFixture.start();
    await create(server, "first", true);

    const again = await server.patch(`${CLASSES}/first`, { globalDefault: true, description: "d" });
    const given = await server.patch(`${CLASSES}/first`, { globalDefault: false });
    const next = await create(server, "second", true);

    expect([again.code, given.code, next.code]).toEqual([200, 200, 201]);
  });
});
