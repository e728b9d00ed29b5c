/**
 * `setpoint watch`: watches feed the model, keys change the view, and both ask for a frame. This file executes what the pure
 * parts decide.
 */
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Client } from "../../client/client.ts";
import type { Transport } from "../../client/transport.ts";
import type { Frame, ScreenSize } from "../terminal/frame.ts";
import type { Key } from "../terminal/key-reader.ts";
import { ScreenRun } from "../terminal/screen-run.ts";
import type { ColourDepth } from "../terminal/style.ts";
import type { FullScreen } from "../terminal/terminal.ts";
import { explain, killPod, scaleOwner, switchPower } from "./actions.ts";
import { ClusterModel } from "./cluster-model.ts";
import { drawWatch, layOut } from "./draw.ts";
import { Feeds, type FeedScope } from "./feeds.ts";
import { helpLines } from "./help.ts";
import { NO_METER, runMeter, type Meter } from "./meter.ts";
import type { Glyphs } from "./pod-marks.ts";
import { settleSelection } from "./selection.ts";
import { FIRST_VIEW, pressKey, told, type Action, type Effect, type View } from "./view.ts";

const MESSAGE_MS = 8000;
/** Requests of the user that wait for each other. */
const ACTIONS_MAX = 20;

export interface WatchParts {
  readonly loop: Loop;
  readonly client: Client;
  readonly transport: Transport;
  readonly scope: FeedScope;
  readonly title: string;
  readonly glyphs: Glyphs;
  readonly depth: ColourDepth;
}

export class WatchSession {
  readonly #parts: WatchParts;
  readonly #model = new ClusterModel();
  readonly #feeds: Feeds;
  readonly #ending = new AbortController();
  #view: View = FIRST_VIEW;
  #meter: Meter = NO_METER;
  #run: ScreenRun | undefined;
  #actions = 0;
  #lastAction: Promise<void> = Promise.resolve();
  #onChange: () => void = () => this.#run?.refresh();

  constructor(parts: WatchParts) {
    this.#parts = parts;
    const { transport, loop, scope } = parts;
    this.#feeds = new Feeds({ transport, loop, model: this.#model, scope, onChange: () => this.#onChange() });
  }

  /** Shows the cluster until the user quits or the signal is aborted. */
  async run(screen: FullScreen, signal: AbortSignal): Promise<void> {
    const { loop, depth, client } = this.#parts;
    const run = new ScreenRun({
      ...{ screen, loop, depth },
      draw: (size) => this.#draw(size),
      onKey: (key) => this.#press(key),
    });
    this.#run = run;
    const onReading = (meter: Meter): void => {
      this.#meter = meter;
      run.refresh();
    };
    const work = (own: AbortSignal): Promise<unknown> =>
      Promise.all([
        this.#feeds.run(own),
        runMeter(client.with({ signal: own }), loop, { signal: own, onReading }),
      ]);
    try {
      await run.run(work, signal);
    } finally {
      this.#ending.abort();
    }
  }

  /** One frame of the first complete state, for output that is no terminal. */
  async snapshot(size: ScreenSize, signal: AbortSignal): Promise<Frame> {
    const { loop, client } = this.#parts;
    const own = this.#ending.signal;
    const end = (): void => this.#ending.abort();
    signal.addEventListener("abort", end, { once: true });
    const synced = new Promise<void>((resolve) => {
      this.#onChange = () => {
        if (this.#feeds.hasSynced || this.#feeds.trouble !== undefined) resolve();
      };
    });
    try {
      void this.#feeds.run(own);
      const metered = new Promise<void>((resolve) => {
        const onReading = (meter: Meter): void => {
          this.#meter = meter;
          resolve();
        };
        void runMeter(client.with({ signal: own }), loop, { signal: own, onReading });
      });
      await Promise.race([Promise.all([synced, metered]), untilAborted(own)]);
      if (this.#feeds.trouble !== undefined) throw new Error(this.#feeds.trouble);
      return this.#draw(size);
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }

  #draw(size: ScreenSize): Frame {
    const { loop, glyphs, title } = this.#parts;
    const now = loop.elapsed();
    this.#model.tick(now);
    const selection = settleSelection(this.#view.selection, { model: this.#model });
    const layout = layOut(this.#model, this.#view, size);
    this.#view = { ...this.#view, selection, firstRow: layout.grid.firstRow };
    const { trouble, hasSynced } = this.#feeds;
    const around = { glyphs, now, title, trouble, hasSynced, ...this.#meter };
    const frame = drawWatch({ model: this.#model, view: this.#view, layout, around });
    if (this.#model.isMoving) this.#run?.refresh();
    return frame;
  }

  #press(key: Key): void {
    const size = this.#run?.size ?? { columns: 80, rows: 24 };
    const layout = layOut(this.#model, this.#view, size);
    const { view, effect } = pressKey(this.#view, key, { model: this.#model, layout });
    this.#view = view;
    if (effect !== undefined) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case "quit":
        return this.#run?.quit();
      case "filter":
        return this.#model.setFilter(effect.text);
      case "help":
        return this.#open("keys and signs", helpLines(this.#parts.glyphs));
      case "why":
      case "kill":
      case "power":
      case "scale":
        return this.#act(effect);
    }
  }

  /** Sends the request after those before it. Its outcome is one line at the bottom. */
  #act(action: Action): void {
    if (this.#actions >= ACTIONS_MAX) return this.#tell("too many requests wait already", true);
    this.#actions++;
    this.#lastAction = this.#lastAction
      .then(() => this.#request(action))
      .catch((error: unknown) => this.#tell(errorText(error), true))
      .finally(() => {
        this.#actions--;
        this.#run?.refresh();
      });
  }

  async #request(action: Action): Promise<void> {
    const { loop } = this.#parts;
    const client = this.#parts.client.with({ signal: this.#ending.signal, fieldManager: "setpoint-watch" });
    switch (action.type) {
      case "kill":
        return this.#tell(await killPod(client, action.pod));
      case "power":
        return this.#tell(await switchPower(client, action.node, action.isOn));
      case "scale":
        return this.#tell(await scaleOwner(client, action.pod, action.by));
      case "why": {
        const name = action.namespace === "" ? action.name : `${action.namespace}/${action.name}`;
        return this.#open(`why ${action.kind} ${name}`, await explain(client, action, loop.now()));
      }
    }
  }

  /** Shows the line for a while, or until the next key. */
  #tell(text: string, isError = false): void {
    const { loop } = this.#parts;
    const view = told(this.#view, text, isError);
    const { message } = view;
    this.#view = view;
    this.#run?.refresh();
    loop.timer(loop.now() + MESSAGE_MS, "periodic", () => {
      if (this.#view.message !== message) return;
      this.#view = { ...this.#view, message: undefined };
      this.#run?.refresh();
    });
  }

  #open(title: string, lines: readonly string[]): void {
    this.#view = { ...this.#view, panel: { title, lines, firstLine: 0 } };
  }
}
