/** Kinds of a network: routers, and the links between them. */
import { defineResource, t } from "setpoint/runtime";
import type { ObjectOf } from "setpoint/runtime";

/** Cost that counts as unreachable, as in RIP. */
export const INFINITY = 16;

export const Router = defineResource({
  group: "net.example.com",
  version: "v1",
  kind: "Router",
  spec: t.object({
    splitHorizon: t
      .boolean()
      .default(true)
      .describe("Whether routes are ignored that a neighbour would send back through this router."),
  }),
  status: t.object({
    routes: t.array(t.object({ to: t.string(), via: t.string(), cost: t.integer() }), { keys: ["to"] }),
    reachable: t.integer(),
    observedGeneration: t.integer().optional(),
  }),
  columns: [{ name: "Reachable", path: ".status.reachable", type: "integer" }],
});
export type Router = ObjectOf<typeof Router>;

export const Link = defineResource({
  group: "net.example.com",
  version: "v1",
  kind: "Link",
  spec: t
    .object({ a: t.string(), b: t.string(), cost: t.integer({ minimum: 1 }).default(1) })
    .rule("self.a != self.b", "a link joins two routers"),
  columns: [
    { name: "A", path: ".spec.a" },
    { name: "B", path: ".spec.b" },
    { name: "Cost", path: ".spec.cost", type: "integer" },
  ],
});
export type Link = ObjectOf<typeof Link>;
