import { expect, test } from "vitest";
import { builtInGroups } from "./loops.ts";
import type { LoopSettings } from "./loops.ts";

function routines(settings: LoopSettings): readonly string[] {
  return (builtInGroups("all", settings).controllers.routines ?? []).map(({ name }) => name);
}

test("nodes get blocks of addresses unless that is turned off", () => {
  expect(routines({})).toContain("node-ipam-controller");
  expect(routines({ allocatesNodeCidrs: false })).not.toContain("node-ipam-controller");
});
