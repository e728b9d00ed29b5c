/** The custom resource: a PostgreSQL cluster in a few fields. */
import { defineResource, t } from "setpoint/runtime";
import type { ObjectOf } from "setpoint/runtime";

export const PostgresCluster = defineResource({
  group: "example.com",
  version: "v1",
  kind: "PostgresCluster",
  shortNames: ["pg"],
  description: "PostgresCluster is a PostgreSQL primary with as many replicas as are asked for.",
  spec: t.object({
    instances: t.integer({ minimum: 1, maximum: 9 }).default(1).describe("Instances counts the primary too."),
    image: t.string({ minLength: 1 }).default("postgres:17"),
    storage: t
      .object({ size: t.string().default("1Gi"), className: t.string().optional() })
      .default({ size: "1Gi" }),
    parameters: t.record(t.string()).default({}).describe("Parameters go into postgresql.conf."),
    credentialsRevision: t
      .integer({ minimum: 1 })
      .default(1)
      .describe("CredentialsRevision is counted up to get a new password."),
    backup: t
      .object({ schedule: t.string({ minLength: 1 }), keep: t.integer({ minimum: 1 }).default(3) })
      .optional(),
  }),
  status: t.object({
    instances: t.integer(),
    ready: t.integer(),
    lastBackup: t.string().optional(),
    observedGeneration: t.integer().optional(),
    conditions: t.conditions(),
  }),
  columns: [
    { name: "Instances", path: ".spec.instances", type: "integer" },
    { name: "Ready", path: ".status.ready", type: "integer" },
    { name: "Last backup", path: ".status.lastBackup", type: "date" },
  ],
  scale: { specReplicasPath: ".spec.instances", statusReplicasPath: ".status.instances" },
});
export type PostgresCluster = ObjectOf<typeof PostgresCluster>;
