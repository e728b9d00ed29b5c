/** `setpoint watch` before a whole cluster on a virtual clock. */
import { describe, expect, onTestFinished, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { recordingScreen, type RecordingScreen } from "../../src/cli/terminal/fixture.ts";
import { WatchSession } from "../../src/cli/watch/watch-session.ts";
import { createClient } from "../../src/client/api-client.ts";
import { builtInGroups, nodeLoops, unleased } from "../../src/cluster/loops/loops.ts";
import { ScreenReader } from "../screen-reader.ts";
import { startRuntimeFixture, type Link, type RuntimeFixture } from "./runtime-fixture.ts";

/** A user who looks at a cluster of two nodes with three pods of a Deployment. */
class Desk {
  readonly fixture: RuntimeFixture;
  readonly link: Link;
  readonly screen: RecordingScreen = recordingScreen({ columns: 110, rows: 30 });
  readonly ended: Promise<void>;
  readonly #ending = new AbortController();
  readonly #reader = new ScreenReader();
  #read = 0;

  constructor(fixture: RuntimeFixture) {
    this.fixture = fixture;
    this.link = fixture.connect("watch");
    const loop = fixture.loop.child("watch");
    const session = new WatchSession({
      loop,
      client: createClient(this.link.transport, { loop: loop.child("client"), retry: "none" }),
      transport: this.link.transport,
      scope: {},
      title: "dev",
      glyphs: "shapes",
      depth: "256",
    });
    this.ended = session.run(this.screen, this.#ending.signal);
    onTestFinished(async () => {
      this.#ending.abort();
      await fixture.run(this.ended);
    });
  }

  static async open(): Promise<Desk> {
    const fixture = await startRuntimeFixture();
    const { controllers, scheduler } = builtInGroups("all");
    fixture.start("controllers", unleased(controllers));
    fixture.start("scheduler", unleased(scheduler));
    fixture.start("nodes", unleased(nodeLoops(2, { hasRootCa: false })));
    await fixture.run(fixture.client(Deployment).create(WEB));
    await fixture.loop.advance(10_000);
    const desk = new Desk(fixture);
    await desk.pass(1000);
    return desk;
  }

  get text(): string {
    for (const piece of this.screen.written.slice(this.#read)) this.#reader.read(Buffer.from(piece));
    this.#read = this.screen.written.length;
    return this.#reader.text;
  }

  /** Names of the pods on the screen, with their signs. */
  get pods(): readonly string[] {
    return [...this.text.matchAll(/([○◔◑●◌]) (web-\w+-\w+)/g)].map(
      ([, sign = "", name = ""]) => `${sign} ${name}`,
    );
  }

  async pass(ms: number): Promise<void> {
    await this.fixture.loop.advance(ms);
  }

  async type(text: string): Promise<void> {
    this.screen.type(text);
    await this.pass(100);
  }
}

const LABELS = { app: "web" };
const WEB = {
  metadata: { namespace: "default", name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "web", image: "web:1" }] },
    },
  },
};

describe("setpoint watch", () => {
  test("shows how a deleted pod goes through its end, and its replacement through its start", async () => {
    const desk = await Desk.open();
    const before = desk.pods;
    const seen = new Set<string>();
    await desk.type("\u001B[B");
    const [, name = ""] = /default\/(web-\S+)/.exec(desk.text) ?? [];
    await desk.type("k");
    await desk.type("y");
    for (let at = 0; at < 80; at++) {
      await desk.pass(50);
      for (const pod of desk.pods) seen.add(pod.includes(name) ? `old ${pod.slice(0, 1)}` : pod.slice(0, 1));
    }
    const after = desk.pods;

    expect(before).toHaveLength(3);
    expect(before.every((pod) => pod.startsWith("●"))).toBe(true);
    expect([...seen]).toEqual(expect.arrayContaining(["old ◌", "◔", "●"]));
    expect(after).toHaveLength(3);
    expect(after.some((pod) => pod.includes(name))).toBe(false);
  });

  test("writes nothing while nothing changes", async () => {
    const desk = await Desk.open();
    await desk.pass(3000);
    const before = desk.screen.written.length;
    await desk.pass(2000);

    // The meter may show other figures once a second.
    expect(desk.screen.written.length - before).toBeLessThanOrEqual(2);
  });

  test("cuts the power of a node, shows the outage, and ends it", async () => {
    const desk = await Desk.open();
    await desk.type("\u001B[B\u001B[A");
    const [, node = ""] = /Node (node-\d)/.exec(desk.text) ?? [];
    await desk.type("f");
    await desk.type("y");
    await desk.pass(500);
    const off = desk.text;
    await desk.pass(60_000);
    const lost = desk.text;
    await desk.type("f");
    await desk.pass(20_000);

    expect(off).toContain(`${node} power off`);
    expect(lost).toContain(`${node} power off, not ready`);
    expect(lost).toContain("1 of 2 nodes ready");
    expect(desk.text).toContain("2 nodes");
    const annotations = desk.fixture.run(desk.fixture.client(Node).get({ name: node }));
    expect((await annotations).metadata.annotations ?? {}).not.toHaveProperty([
      "simulated.setpoint.dev/down",
    ]);
  });

  test("says in one line what the server refuses, and goes on", async () => {
    const desk = await Desk.open();
    await desk.type("\u001B[B");
    desk.link.mode = "refused";
    await desk.type("+");
    const refused = desk.text;
    desk.link.mode = "open";
    await desk.type("+");
    await desk.pass(2000);

    expect(refused).toContain("the server cannot be reached");
    expect(desk.pods).toHaveLength(4);
  });

  test("says that it reconnects, and is up to date after that", async () => {
    const desk = await Desk.open();
    desk.link.watches = "cut";
    await desk.fixture.run(desk.fixture.client(Deployment).scale({ namespace: "default", name: "web" }, 4));
    await desk.pass(3000);
    const cut = desk.text;
    desk.link.watches = "flowing";
    await desk.pass(30_000);
    const { items } = await desk.fixture.run(desk.fixture.client(Pod).list({ namespace: "default" }));

    expect(cut).toMatch(/reconnecting: the watch of \w+ broke: the connection broke/);
    expect(desk.text).not.toContain("reconnecting");
    expect(desk.pods.map((pod) => pod.slice(2)).toSorted()).toEqual(
      items.map(({ metadata }) => metadata.name).toSorted(),
    );
  });

  test("ends when the user quits, and leaves the terminal", async () => {
    const desk = await Desk.open();
    await desk.type("q");
    await desk.fixture.run(desk.ended);

    expect(desk.screen.calls).toEqual(["enter", "leave"]);
  });
});
