/** Examples as separate programs, compiled against the package. They learn of the cluster from a kubeconfig alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { ConfigMap } from "setpoint/resources";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { Thermostat } from "../../examples/thermostat/thermostat.ts";
import { PackageConsumer, ROOT } from "./package-consumer.ts";
import type { Outcome } from "./package-consumer.ts";

const consumer = new PackageConsumer();
afterAll(() => consumer[Symbol.dispose]());

describe("examples/thermostat", () => {
  test("runs as a program, keeps what it should, and ends when it is told to", async () => {
    expect(compile("thermostat")).toEqual({ code: 0, output: "" });
    await using cluster = await startCluster({ loops: "none" });
    const env = { ...process.env, KUBECONFIG: await cluster.kubeconfig() };
    const program = spawn(process.execPath, ["dist/main.js"], {
      cwd: join(consumer.folder, "thermostat"),
      env,
      stdio: "ignore",
    });
    onTestFinished(() => void program.kill("SIGKILL"));
    const ended = once(program, "exit");

    await cluster.client(ConfigMap).create({ metadata: { name: "hall" }, data: { degrees: "18" } });
    await cluster.until(() => isServed(cluster), { within: "30s" });
    await cluster.client(Thermostat).create({ metadata: { name: "hall" }, spec: { sensor: "hall" } });
    const isHeating = (): boolean =>
      cluster.objects(Thermostat).some(({ status }) => status?.heating === true);
    await cluster.until(isHeating, { within: "30s" });

    program.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});

describe("examples", () => {
  test.each(readdirSync(join(ROOT, "examples")))("%s compiles against the package", (name) => {
    expect(compile(name)).toEqual({ code: 0, output: "" });
  });
});

function compile(example: string): Outcome {
  const filter = (path: string): boolean => !/\/dist(\/|$)/.test(path);
  cpSync(join(ROOT, "examples", example), join(consumer.folder, example), { recursive: true, filter });
  return consumer.compile(example);
}

function isServed(cluster: Cluster): boolean {
  try {
    return cluster.objects(Thermostat).length === 0;
  } catch {
    return false;
  }
}
