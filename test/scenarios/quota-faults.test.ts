/** The quota controller, while objects come and go. */
import { expect, test } from "vitest";
import type { ResourceType } from "../../src/api/api-object.ts";
import { Pod, ResourceQuota } from "../../src/api/generated/types/core-v1.ts";
import { untilAborted } from "../../src/base/loop/until-aborted.ts";
import type { Client, ResourceClient } from "../../src/client/client.ts";
import { resourceQuotaController } from "../../src/controllers/resource-quota/controller.ts";
import type { Controller, ReconcileContext } from "../../src/runtime/controller/controller.ts";
import type { Routine } from "../../src/runtime/manager/routine.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";

const NAMESPACE = "default";
const SPEC = { containers: [{ name: "app", image: "app" }] };

test("who was let in after a quota was counted is not forgotten, though another has gone before", async () => {
  const world = await startRuntimeFixture();
  const shown: (string | undefined)[] = [];
  const create = (client: Client, name: string): Promise<unknown> =>
    client(Pod).create({ metadata: { name, namespace: NAMESPACE }, spec: SPEC });
  const quota = { metadata: { name: "q", namespace: NAMESPACE }, spec: { hard: { pods: "9" } } };
  const made = await world.run(world.client(ResourceQuota).create(quota));
  await world.run(create(world.client, "gone"));
  await world.run(create(world.client, "stays"));
  await world.run(world.client(ResourceQuota).patch(made, USED_7, { subresource: "status" }));

  const counting = interrupted(resourceQuotaController, {
    before: (client) => client(Pod).delete({ name: "gone", namespace: NAMESPACE }, { gracePeriodSeconds: 0 }),
    after: (client) => create(client, "comes"),
  });
  world.start("m", { controllers: [counting], routines: [following(shown)] });
  await world.loop.advance(10_000);

  expect(shown).toEqual(["6", "7", "2"]);
});

/** A wrong count, so that the controller counts again. */
const USED_7 = {
  type: "merge",
  changes: { status: { hard: { pods: "9" }, used: { pods: "7" } } },
} as const;

function following(shown: (string | undefined)[]): Routine {
  return {
    name: "follower",
    reads: [ResourceQuota],
    run: async ({ subscribe }, signal) => {
      const leave = subscribe(ResourceQuota, ({ after }) => shown.push(after?.status.used?.["pods"]));
      await untilAborted(signal);
      leave();
    },
  };
}

interface Interruption {
  readonly before: (client: Client) => Promise<unknown>;
  readonly after: (client: Client) => Promise<unknown>;
}

/** The same controller, with callbacks before and after its first read of pods. */
function interrupted(controller: Controller, { before, after }: Interruption): Controller {
  const { definition } = controller;
  let isOver = false;
  const around = (context: ReconcileContext): ReconcileContext["client"] => {
    const { client } = context;
    const pages: ResourceClient<Pod>["pages"] = async function* pages(options) {
      const isFirst = !isOver;
      isOver = true;
      if (isFirst) await before(client);
      yield* client(Pod).pages(options);
      if (isFirst) await after(client);
    };
    const choose = (type: ResourceType): unknown => (type === Pod ? { pages } : client(type));
    return Object.assign(choose, client);
  };
  const reconcile: typeof definition.reconcile = (object, context) =>
    definition.reconcile(object, { ...context, client: around(context) });
  return { ...controller, definition: { ...definition, reconcile } };
}
