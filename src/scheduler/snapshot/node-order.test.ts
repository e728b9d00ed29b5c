import { expect, test } from "vitest";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { NodeInfo } from "./node-info.ts";
import { interleaveZones } from "./node-order.ts";

test("zones take turns, and an exhausted zone is skipped", () => {
  const zones = ["1", "1", "1", "2", "3", "3"];
  const nodes = zones.map((zone, n) => {
    const metadata = { name: `${zone}-${String(n)}`, labels: { "topology.kubernetes.io/zone": zone } };
    return new NodeInfo(incomplete<Node>({ metadata, spec: {}, status: {} }), n);
  });

  const names = interleaveZones(nodes).map(({ name }) => name);

  expect(names).toEqual(["1-0", "2-3", "3-4", "1-1", "3-5", "1-2"]);
});
