import { expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { ServerFixture, textAt } from "../fixture.ts";

const PATH = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking";

/** Runs the virtual clock until the promise settles. */
function done<T>(loop: VirtualLoop, promise: Promise<T>): Promise<T> {
  return loop.finish(promise);
}

test("the start of token use tracking is published, and an invalid date is replaced", async () => {
  const loop = new VirtualLoop({ seed: 1, startAt: Date.parse("2026-03-04T23:00:00Z") });
  const server = await done(loop, ServerFixture.start({ loop, hostname: "here" }));
  const ending = new AbortController();
  const running = server.upkeep.run(ending.signal);
  const since = async (): Promise<string> => {
    await loop.advance(1000);
    return textAt((await done(loop, server.send("GET", PATH))).body, "data", "since");
  };

  const first = await since();
  await done(loop, server.patch(PATH, { data: { since: "2020-01-01" } }));
  const earlier = await since();
  await done(loop, server.patch(PATH, { data: { since: "2026-02-30" } }));

  expect([first, earlier, await since()]).toEqual(["2026-03-04", "2020-01-01", "2026-03-04"]);
  ending.abort();
  await done(loop, running);
});
