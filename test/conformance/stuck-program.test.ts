/** The program of `setpoint new` as a process of its own, with a controller whose passes never end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { PackageConsumer } from "./package-consumer.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

/** Bound in docs/guides/write-a-controller.md. A machine that runs other tests may exceed it in one try. */
const END_MS = 5000;
const TRIES = { retry: 2 };

const folder = new Folder();
const consumer = new PackageConsumer();
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await RunningCluster.start(folder, { loops: ["serviceaccount-controller"] });
  consumer.write("setpoint.tgz", "");
  consumer.setpoint(["new", "stuck", "--package", "setpoint.tgz"]);
  consumer.compile("stuck");
  consumer.write("stuck/dist/controller.js", controllerText());
});
afterAll(async () => {
  await cluster.stop();
  folder.remove();
  consumer[Symbol.dispose]();
});

/** Bodies of `reconcile` by namespace. */
const WAYS = {
  default: "await new Promise(() => undefined);",
  "kube-public": "await new Promise(() => setInterval(() => undefined, 10));",
  "kube-system": "for (;;) try { await client(ServiceAccount).list(); } catch {}",
};

test(
  "a program with passes that never end ends on SIGTERM within five seconds, and names one",
  TRIES,
  async () => {
    const program = spawn(process.execPath, ["dist/main.js"], {
      cwd: join(consumer.folder, "stuck"),
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void program.kill("SIGKILL"));
    let log = "";
    program.stderr.on("data", (piece) => (log += String(piece)));
    for (const namespace of Object.keys(WAYS))
      await expect.poll(() => log, { timeout: 30_000 }).toContain(`reconcile begins in ${namespace} `);

    const killedAt = performance.now();
    program.kill("SIGTERM");
    const [code, signal] = (await once(program, "close")) as unknown[];

    expect(performance.now() - killedAt).toBeLessThan(END_MS);
    expect([code, signal]).toEqual([1, null]);
    expect(log).toMatch(
      /error passes are abandoned at the stop controller=stuck passes=3 error="reconcile \S+\/default of stuck ignores the stop: end it when its signal aborts"/,
    );
  },
);

function controllerText(): string {
  const ways = Object.entries(WAYS).map(
    ([namespace, body]) => `    if (metadata.namespace === "${namespace}") { ${body} }`,
  );
  return `import { ServiceAccount } from "setpoint/resources";
import { defineController } from "setpoint/runtime";

export const controller = defineController({
  name: "stuck",
  for: ServiceAccount,
  async reconcile({ metadata }, { client, log }) {
    log.info(\`reconcile begins in \${metadata.namespace}\`);
${ways.join("\n")}
  },
});
`;
}
