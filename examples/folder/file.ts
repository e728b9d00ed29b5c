/** The kind: one file of the folder. */
import { defineResource, t } from "setpoint/runtime";
import type { ObjectOf } from "setpoint/runtime";

export const File = defineResource({
  group: "files.example.com",
  version: "v1",
  kind: "File",
  spec: t.object({
    path: t
      .string({ maxLength: 200, pattern: String.raw`^[\w-][\w.-]*(?:/[\w-][\w.-]*)*$` })
      .describe("Path below the folder; no part may start with a dot."),
    content: t.string({ maxLength: 100_000 }).default(""),
  }),
  status: t.object({
    path: t.string().optional().describe("Path that the file may have on disk."),
    repairs: t.integer(),
    observedGeneration: t.integer().optional(),
    conditions: t.conditions(),
  }),
  columns: [
    { name: "Path", path: ".spec.path" },
    { name: "Ready", path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Repairs", path: ".status.repairs", type: "integer" },
  ],
});
export type File = ObjectOf<typeof File>;
