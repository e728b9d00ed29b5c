/** The shipped package: its exports can be imported with types, and other files cannot. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PackageConsumer, ROOT } from "./package-consumer.ts";

const consumer = new PackageConsumer();
afterAll(() => consumer[Symbol.dispose]());

const TYPED = `
import { startCluster } from "setpoint";
import type { Cluster, StartOptions } from "setpoint";
import { isApiError, parseQuantity } from "setpoint/api";
import type { ResourceType } from "setpoint/api";
import { connect } from "setpoint/client";
import type { Client } from "setpoint/client";
import { Deployment, Event, HorizontalPodAutoscaler, Pod } from "setpoint/resources";
import type { Container } from "setpoint/resources";
import { defineController, defineResource, slowStart, t } from "setpoint/runtime";
import type { ObjectOf } from "setpoint/runtime";
import { openMemoryStore } from "setpoint/store";
import { openEtcdStore } from "setpoint/store/etcd";
import { VirtualLoop, watchViolations } from "setpoint/testing";

const options: StartOptions = { clock: "virtual", seed: 1, loops: "none" };
const Box = defineResource({ group: "g.io", version: "v1", kind: "Box", plural: "boxes", spec: t.object({ size: t.integer() }) });
type Box = ObjectOf<typeof Box>;
const container: Container = { name: "c", image: "i" } as Container;
const kinds: readonly ResourceType[] = [Deployment, Event, HorizontalPodAutoscaler, Pod, Box];
const loop = defineController<Box>({ name: "b", for: Box, async reconcile({ spec }) { if (spec.size < 0) throw new Error(container.name); } });
const cluster: Cluster = await startCluster({ ...options, kinds: [Box], controllers: [loop] });
const client: Client = cluster.client;
const box: Box = await client(Box).create({ metadata: { name: "b" }, spec: { size: 1 } });
await cluster.settle();
await cluster.stop();
const others = [connect, isApiError, parseQuantity, slowStart, openMemoryStore, openEtcdStore, VirtualLoop, watchViolations];
process.stdout.write([kinds.map(({ apiVersion }) => apiVersion).join(" "), box.spec.size, others.length].join(" | "));
`;

describe("the package", () => {
  test("gives types and values of every entry to TypeScript", () => {
    consumer.write("typed.ts", TYPED);

    expect(consumer.compile()).toEqual({ code: 0, output: "" });
    expect(consumer.node(["dist/typed.js"])).toEqual({
      code: 0,
      output: "apps/v1 v1 autoscaling/v2 v1 g.io/v1 | 1 | 8",
    });
  });

  test("has types that refuse what the kind does not have", () => {
    consumer.write(
      "wrong/wrong.ts",
      `import { defineResource, t } from "setpoint/runtime";
       import type { ObjectOf } from "setpoint/runtime";
       const Box = defineResource({ group: "g.io", version: "v1", kind: "Box", spec: t.object({ size: t.integer() }) });
       export const sizeOf = (box: ObjectOf<typeof Box>): string => box.spec.size;`,
    );
    consumer.write("wrong/tsconfig.json", JSON.stringify({ extends: "../tsconfig.json", include: ["*.ts"] }));

    expect(consumer.compile("wrong").output).toContain("Type 'number' is not assignable to type 'string'");
  });

  test("is used from plain JavaScript", () => {
    const program = `
      import { startCluster } from "setpoint";
      import { ConfigMap } from "setpoint/resources";
      const cluster = await startCluster();
      await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
      console.log((await cluster.client(ConfigMap).list()).items.length);
      await cluster.stop();`;

    expect(consumer.node(["--input-type=module", "--eval", program])).toEqual({ code: 0, output: "1\n" });
  });

  test.each(["setpoint/dist/index.js", "setpoint/cluster", "setpoint/base/loop", "setpoint/src/index.ts"])(
    "does not give %s away",
    (specifier) => {
      const { code, output } = consumer.node(["--input-type=module", "--eval", `import "${specifier}"`]);

      expect(code).toBe(1);
      expect(output).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
    },
  );

  test("prints the definition of a kind that a module exports", () => {
    consumer.write(
      "kinds.js",
      `import { defineResource, t } from "setpoint/runtime";
       export const Box = defineResource({ group: "g.io", version: "v1", kind: "Box", plural: "boxes", spec: t.object({ size: t.integer({ minimum: 1 }).default(3) }) });`,
    );

    const { code, output } = consumer.setpoint(["crd", "kinds.js"]);

    expect(code).toBe(0);
    expect(output).toContain("name: boxes.g.io\n");
    expect(output).toContain("default: 3\n");
  });

  test("ships no test, no source and no secret of the repository", () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { exports: object };
    expect(Object.keys(exports)).toEqual([
      ".",
      "./api",
      "./client",
      "./resources",
      "./runtime",
      "./store",
      "./store/etcd",
      "./testing",
      "./package.json",
    ]);
    const files = readdirSync(join(consumer.folder, "node_modules/setpoint"), { recursive: true }).map(
      String,
    );
    expect(files).toContain("dist/cli.js");
    expect(files).toContain("dist/server/routes/openapi/descriptions/core.txt");
    expect(files.filter((path) => /\.test\.|(^|\/)(src|test|fixture)(\/|\.|$)/.test(path))).toEqual([]);
  });
});
