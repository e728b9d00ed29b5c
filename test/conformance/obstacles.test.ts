/** Obstacles of a controller are told in one line, with a command that mends them; the real kubectl runs it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ResourceType } from "../../src/api/api-object.ts";
import { ConfigMap, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import type { Log, LogFields } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect } from "../../src/client/connection.ts";
import { httpTransport } from "../../src/client/http-transport.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig-files.ts";
import { resolveContext } from "../../src/client/kubeconfig.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import { child } from "../../src/runtime/controller/child.ts";
import { defineController, type Controller } from "../../src/runtime/controller/controller.ts";
import { defineResource } from "../../src/runtime/kinds/resource-definition.ts";
import { t } from "../../src/runtime/kinds/schema-part.ts";
import { createManager, type Manager, type ManagerSettings } from "../../src/runtime/manager/manager.ts";
import { describePeer } from "../peers.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const loop = createRealLoop({ name: "test" });
const UNSERVED: ResourceType = {
  apiVersion: "storage.k8s.io/v9",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

const folder = new Folder();
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await RunningCluster.start(folder);
  await using admin = await connect({ file: cluster.kubeconfig, loop });
  await admin.client(ServiceAccount).create({ metadata: { name: "jo" } });
});
afterAll(async () => {
  await cluster.stop();
  folder.remove();
});

/** Makes a ConfigMap for each ServiceAccount. */
const badges = defineController<ServiceAccount>({
  name: "badges",
  for: ServiceAccount,
  owns: [ConfigMap],
  async reconcile({ metadata }, { children }) {
    await children([child(ConfigMap, { metadata: { name: `badge-${metadata.name}` } })]);
  },
});

function controllerFor(type: ResourceType, name = "things"): Controller {
  return defineController({ name, for: type, reconcile: async () => undefined });
}

describePeer("kubectl", "a user without permissions", (kubectl) => {
  test("gets them by the commands of the health report, one after another", async () => {
    const admin = await connect({ file: cluster.kubeconfig, loop });
    onTestFinished(() => admin.close());
    const { manager, lines } = await start(
      { controllers: [badges] },
      { user: "system:serviceaccount:default:op" },
    );
    const reports: string[] = [];
    const isDone = async (): Promise<boolean> =>
      (await admin.client(ConfigMap).find({ name: "badge-jo" })) !== undefined &&
      manager.health() === undefined;

    await expect
      .poll(async () => {
        const report = manager.health();
        if (report !== undefined && !reports.includes(report)) {
          reports.push(report);
          await runShell(commandIn(report), kubectl);
        }
        return await isDone();
      }, POLL)
      .toBe(true);

    expect(reports.map((report) => report.replace(/;.*/, ""))).toEqual([
      "badges: user system:serviceaccount:default:op may not watch serviceaccounts",
      "badges: user system:serviceaccount:default:op may not watch configmaps",
      "badges: user system:serviceaccount:default:op may not patch configmaps",
    ]);
    // One line for each, and one when it is mended.
    expect(lines.filter((line) => line.includes("may not patch configmaps"))).toEqual([
      expect.stringMatching(/^warn user \S+ may not patch configmaps controller=badges key=default\/\w+ /),
      expect.stringMatching(/^info mended /),
    ]);
  });
});

describe("a kind that the server does not serve", () => {
  test("is named with the command that installs it, until it is installed", async () => {
    const Badge = defineResource({ group: "example.com", version: "v1", kind: "Badge", spec: t.object({}) });
    const admin = await connect({ file: cluster.kubeconfig, loop });
    onTestFinished(() => admin.close());
    const { manager, lines } = await start({ controllers: [controllerFor(Badge)] });

    await expect
      .poll(() => manager.health(), POLL)
      .toBe(
        "things: the server does not serve Badge of example.com/v1; mend it: setpoint crd MODULE | kubectl apply -f -",
      );
    await admin.client.apply(Badge.definition);
    await expect.poll(() => manager.health(), POLL).toBeUndefined();

    expect(lines.filter((line) => line.includes("Badge of"))).toEqual([
      expect.stringMatching(
        /^warn the server does not serve Badge of example.com\/v1 controller=things kind=Badge/,
      ),
      expect.stringMatching(/^info mended /),
    ]);
  });

  test("is named for a built-in kind too, and for a request of reconcile", async () => {
    const using = defineController<ServiceAccount>({
      name: "using",
      for: ServiceAccount,
      reconcile: async (_account, { client }) => void (await client(UNSERVED).list()),
    });
    const [watching, requesting] = await Promise.all([
      start({ controllers: [controllerFor(UNSERVED)] }),
      start({ controllers: [using] }),
    ]);

    const remedy = "mend it: kubectl api-resources --api-group=storage.k8s.io";
    await expect
      .poll(() => watching.manager.health(), POLL)
      .toBe(`things: the server does not serve Thing of storage.k8s.io/v9; ${remedy}`);
    await expect
      .poll(() => requesting.manager.health(), POLL)
      .toBe(`using: the server does not serve things.storage.k8s.io; ${remedy}`);
  });

  test("makes settle of a virtual cluster fail", async () => {
    await using virtual = await startCluster({
      clock: "virtual",
      loops: "none",
      controllers: [controllerFor(UNSERVED)],
    });

    await expect(virtual.settle()).rejects.toThrow(
      "a loop cannot go on: things: the server does not serve Thing of storage.k8s.io/v9",
    );
    await virtual.settle({ terminalFailures: "expected" });
  });
});

describe("a server that does not respond", () => {
  test("is named once for all kinds", async () => {
    const { manager, lines } = await start(
      { controllers: [badges], leaderElection: { name: "op", namespace: "default" } },
      { server: "https://127.0.0.1:1" },
    );

    await expect
      .poll(() => manager.health(), POLL)
      .toBe(
        "badges: no response from https://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; mend it: setpoint up",
      );
    const told = (about: string): number =>
      lines.filter((line) => line.startsWith("warn no response") && line.includes(about)).length;
    await expect.poll(() => told("lease=default/op"), POLL).toBe(1);
    expect(told("controller=badges")).toBe(1);
    expect(told("")).toBe(2);
  });
});

describe("credentials that the server refuses", () => {
  test("are named", async () => {
    const { manager } = await start({ controllers: [badges] }, { token: "wrong" });

    await expect
      .poll(() => manager.health(), POLL)
      .toBe("badges: the server does not accept the credentials; mend it: kubectl auth whoami");
  });
});

const POLL = { timeout: 30_000, interval: 20 };

interface Caller {
  /** User to act as. Default: the admin. */
  readonly user?: string;
  readonly token?: string;
  readonly server?: string;
}

/** A manager with a connection of its own, and the lines of its log. */
async function start(
  settings: ManagerSettings,
  { user, token, server }: Caller = {},
): Promise<{ readonly manager: Manager; readonly lines: readonly string[] }> {
  const { endpoint } = resolveContext(await loadKubeconfig({ file: cluster.kubeconfig, loop }), undefined);
  const impersonation = user === undefined ? {} : { impersonation: { user, groups: [], extra: {} } };
  const credentials = token === undefined ? endpoint.user : { token: { text: token } };
  const transport = httpTransport({
    ...endpoint,
    ...(server !== undefined && { server }),
    user: { ...credentials, ...impersonation },
    loop,
  });
  const lines: string[] = [];
  const manager = createManager({
    transport,
    log: capturing(lines),
    loop: loop.child("manager"),
    ...settings,
  });
  const ending = new AbortController();
  const running = manager.run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await running;
    await transport.close();
  });
  return { manager, lines };
}

/** `warn message key=value …` for each line. */
function capturing(lines: string[], always: LogFields = {}): Log {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const words = Object.entries({ ...always, ...fields }).map(
        ([name, value]) => `${name}=${String(value)}`,
      );
      lines.push([level, message, ...words].join(" "));
    };
  const more = (fields: LogFields): Log => capturing(lines, { ...always, ...fields });
  return { debug: () => undefined, info: at("info"), warn: at("warn"), error: at("error"), with: more };
}

function commandIn(report: string): string {
  return report.split("mend it: ")[1] ?? "";
}

async function runShell(command: string, kubectl: string): Promise<void> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  await promisify(execFile)("sh", ["-c", command.replaceAll("kubectl", kubectl)], { env });
}
