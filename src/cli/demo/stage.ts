/** The stage of the demo: a cluster on accelerated time, and the lines that tell what happens on it. */
import { Deployment } from "../../api/generated/types/apps-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { createTextLog } from "../../base/log/log-text.ts";
import { startCluster, type Cluster } from "../../cluster/in-program/start-cluster.ts";
import { explainObject, type Asked } from "../../insight/explain/explain-object.ts";
import { explanationText } from "../../insight/explain/explanation-text.ts";
import { isStep, stepText, storyPages } from "../../insight/past/story.ts";
import { durationText } from "../../insight/text/duration-text.ts";
import { wrapText } from "../../insight/text/text-width.ts";
import { cellOf, type CellStyle } from "./pod-cells.ts";

/** Prints a line, and may wait so that a reader can follow. */
export type Narrator = (line: string) => Promise<void>;

export interface StageOptions {
  readonly narrate: Narrator;
  readonly style: CellStyle;
  /** Width of the terminal; longer lines are broken at spaces. */
  readonly columns: number;
}

/** Author of the requests that the story makes. */
const ADMIN = "kubernetes-admin (setpoint)";

/** Longest cell line; a narrow terminal shows fewer. */
const CELLS_MAX = 50;
/** With less room beside it, the summary gets a line of its own. */
const CELLS_MIN = 10;
/** Begin of each line about what is, and of a line that goes on. */
const INDENT = " ".repeat("  desired  ".length);

/** Upper bound of the lines that one scene shows of a story or an explanation. */
const LINES_MAX = 12;

export class Stage {
  readonly cluster: Cluster;
  readonly #options: StageOptions;
  readonly #logged: string[];
  #toldRevision = "0";
  #sceneBeganAt = 0;

  private constructor(cluster: Cluster, options: StageOptions, logged: string[]) {
    this.cluster = cluster;
    this.#options = options;
    this.#logged = logged;
  }

  static async open(options: StageOptions): Promise<Stage> {
    const logged: string[] = [];
    const log = createTextLog({ isColoured: false, write: (line) => void logged.push(line) });
    const cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 3, log });
    const stage = new Stage(cluster, options, logged);
    await cluster.settle();
    return stage;
  }

  /** Client of the reader. */
  get client(): Cluster["client"] {
    return this.cluster.client.with({ fieldManager: "you" });
  }

  /** Begins a scene: later times and stories count from now. */
  async begin(title: string, desired: string): Promise<void> {
    this.#sceneBeganAt = this.cluster.clock.now();
    this.#toldRevision = await this.#revision();
    await this.say(`\n${title}`);
    await this.say(`  desired  ${desired}`);
  }

  async say(line: string): Promise<void> {
    const text = line.replaceAll(ADMIN, "you");
    // Cells have colours, and fit.
    const isCells = text.includes("\u001b");
    for (const each of text.split("\n"))
      for (const part of isCells ? [each] : wrapText(each, this.#options.columns, INDENT))
        await this.#options.narrate(part);
  }

  /** Runs the cluster until all is as desired, then shows what is. */
  async settle(): Promise<void> {
    await this.cluster.settle({ within: "1h", terminalFailures: "expected" });
    await this.showPods();
  }

  /** The pods of the default namespace, one cell each. */
  async showPods(): Promise<void> {
    const cells = this.cluster.objects(Pod, "default").map((pod) => cellOf(pod, this.#options.style));
    const summary = this.#summary();
    const room = this.#options.columns - INDENT.length - " and 100 more".length;
    const beside = room - summary.length - 2;
    const count = Math.min(CELLS_MAX, beside < CELLS_MIN ? room : beside);
    const more = cells.length - count;
    const shown = `${cells.slice(0, count).join("")}${more > 0 ? ` and ${String(more)} more` : ""}`;
    if (cells.length === 0) return await this.say(`  is       ${summary}`);
    if (beside >= Math.min(CELLS_MIN, cells.length)) return await this.say(`  is       ${shown}  ${summary}`);
    await this.say(`  is       ${shown}`);
    await this.say(`${INDENT}${summary}`);
  }

  #summary(): string {
    const pods = this.cluster.objects(Pod, "default");
    const ending = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    const ready = pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status?.conditions?.some(isReady) === true,
    ).length;
    const rest = ending === 0 ? "" : `, ${String(ending)} ending`;
    const counted = `${String(ready)} of ${String(pods.length - ending)} pods ready${rest}`;
    return `${pods.length === 0 ? "no pods" : counted} after ${this.#elapsed()}`;
  }

  #elapsed(): string {
    const ms = this.cluster.clock.now() - this.#sceneBeganAt;
    return ms < 1000 ? `${String(ms)} ms` : durationText(ms);
  }

  /** Steps of the loops since the scene began, or since the last call. */
  async tell(lines = LINES_MAX): Promise<void> {
    const texts: string[] = [];
    const options = { namespace: "default", after: this.#toldRevision };
    for await (const changes of storyPages(this.cluster.client, options))
      texts.push(...changes.filter(isStep).map(stepText));
    this.#toldRevision = await this.#revision();
    for (const text of texts.slice(0, lines)) await this.say(`  did      ${text.trimEnd()}`);
    if (texts.length > lines) await this.say(`           … and ${String(texts.length - lines)} more steps`);
  }

  /** Explanation of an object, as `setpoint why` prints it. */
  async why(asked: Asked, lines = LINES_MAX): Promise<void> {
    const { type, name } = asked;
    await this.say(`  $ setpoint why ${type.kind.toLowerCase()}/${name}`);
    const explained = await explainObject(this.cluster.client, asked, this.cluster.clock.now());
    const texts = explanationText(explained, this.#options.columns - 2)
      .trimEnd()
      .split("\n");
    for (const text of texts.slice(0, lines)) await this.say(`  ${text}`);
  }

  /** Message, object and writers of the last line of the loops' log that has this text. */
  loggedParts(text: string): readonly string[] {
    const line = this.#logged.findLast((logged) => logged.includes(text)) ?? "";
    const parts = /warn +(.*?) controller=.*? (object=".*?").*? (field=\S+) (writers=\S+)/.exec(line);
    return parts === null ? [] : [parts[1] ?? "", parts.slice(2).join(" ")];
  }

  /** Makes a Deployment of a name, with as many pods. */
  async deploy(name: string, replicas: number, pod: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const labels = { app: name };
    const container = { name, image: "web:1", ...pod };
    await this.client(Deployment).create({
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 1, containers: [container] },
        },
      },
    });
  }

  async #revision(): Promise<string> {
    const { metadata } = await this.cluster.client(Pod).list({ namespace: "default", limit: 1 });
    return metadata.resourceVersion;
  }
}

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === "Ready" && status === "True";
}
