import { describe, expect, test } from "vitest";
import { ServerFixture } from "../upkeep/fixture.ts";

const CONTAINER = { name: "c", image: "i" };

interface Case {
  readonly kind: string;
  /** Collection path of the kind. */
  readonly path: string;
  readonly key: string;
  readonly spec: object;
  /** A valid value today, and the value that an earlier version stored in its place. */
  readonly good: string;
  readonly old: string;
  /** A change of the same field to another invalid value. */
  readonly change: object;
}

function requirement(value: string): object {
  return { matchExpressions: [{ key: "a", operator: "In", values: [value] }] };
}

function template(affinityValue: string): object {
  const nodeSelectorTerms = [requirement(affinityValue)];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return {
    metadata: { labels: { app: "web" } },
    spec: { containers: [CONTAINER], affinity: { nodeAffinity: required } },
  };
}

const CASES: readonly Case[] = [
  {
    kind: "PodDisruptionBudget",
    path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    key: "/registry/poddisruptionbudgets/default/it",
    spec: { minAvailable: 1, selector: requirement("good") },
    good: '"good"',
    old: '"not a label"',
    change: { selector: requirement("another bad one") },
  },
  {
    kind: "Deployment",
    path: "/apis/apps/v1/namespaces/default/deployments",
    key: "/registry/deployments/default/it",
    spec: { selector: { matchLabels: { app: "web" } }, template: template("good") },
    good: '"good"',
    old: '"not a label"',
    change: { template: template("another bad one") },
  },
  {
    kind: "CronJob",
    path: "/apis/batch/v1/namespaces/default/cronjobs",
    key: "/registry/cronjobs/default/it",
    spec: {
      schedule: "0 0 * * *",
      timeZone: "Europe/Oslo",
      jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [CONTAINER] } } } },
    },
    good: '"Europe/Oslo"',
    old: '"Europe/Atlantis"',
    change: { timeZone: "Europe/Nowhere" },
  },
  {
    kind: "Ingress",
    path: "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    key: "/registry/ingress/default/it",
    spec: {
      defaultBackend: { service: { name: "web", port: { number: 80 } } },
      tls: [{ hosts: ["a.example.com"], secretName: "good" }],
    },
    good: '"good"',
    old: '"NOT_A_NAME"',
    change: { tls: [{ hosts: ["a.example.com"], secretName: "ALSO_NOT" }] },
  },
];

async function withOldValue({ path, key, spec, good, old }: Case): Promise<ServerFixture> {
  const server = await ServerFixture.start();
  const { store } = server.verbParts;
  expect((await server.send("POST", path, { metadata: { name: "it" }, spec })).code).toBe(201);
  const text = Buffer.from(store.view.get(key)?.value ?? []).toString();
  expect(text).toContain(good);
  const value = Buffer.from(text.replace(good, old));
  await store.write({ changes: [{ type: "put", key, value }] });
  return server;
}

describe.each(CASES.map((one) => [one.kind, one] as const))("a %s stored before a rule existed", (_, one) => {
  test("accepts changes of other fields", async () => {
    const server = await withOldValue(one);

    const { code, body } = await server.patch(`${one.path}/it`, { metadata: { labels: { a: "b" } } });

    expect(code).toBe(200);
    expect(JSON.stringify(body)).toContain(one.old);
  });

  test("refuses another invalid value", async () => {
    const server = await withOldValue(one);

    expect((await server.patch(`${one.path}/it`, { spec: one.change })).code).toBe(422);
  });

  test("cannot be created again", async () => {
    const server = await ServerFixture.start();
    const spec = JSON.parse(JSON.stringify(one.spec).replace(one.good, one.old)) as object;

    expect((await server.send("POST", one.path, { metadata: { name: "it" }, spec })).code).toBe(422);
  });
});
