/** Clusters for tests of `watch`, without a server. */
import type { ScreenSize } from "../terminal/frame.ts";
import type { KeyName } from "../terminal/key-reader.ts";
import { ClusterModel } from "./cluster-model.ts";
import { drawWatch, layOut } from "./draw.ts";
import type { Layout } from "./layout.ts";
import type { Surroundings } from "./picture.ts";
import { FIRST_VIEW, pressKey, type Pressed, type View } from "./view.ts";
import type { EventLine, NodeCell, PodCell, Watched } from "./watched-objects.ts";

/** After all phases and marks of earlier changes have been shown. */
const LATER = 10_000;

export function podOf(name: string, pod: Partial<PodCell> = {}): PodCell {
  return {
    uid: `uid-${name}`,
    namespace: "default",
    name,
    node: "",
    phase: pod.node === undefined ? "unscheduled" : "ready",
    status: "Running",
    ready: "1/1",
    restarts: 0,
    labels: "app=web",
    owner: "ReplicaSet/web-1",
    ...pod,
  };
}

export function nodeOf(name: string, node: Partial<NodeCell> = {}): NodeCell {
  return { name, isReady: true, isCordoned: false, isSimulated: true, isDown: false, room: 110, ...node };
}

export function eventOf(name: string, event: Partial<EventLine> = {}): EventLine {
  const at = Date.parse("2026-01-02T03:04:05Z");
  return {
    uid: `event-${name}-${event.reason ?? ""}`,
    at,
    isWarning: false,
    reason: "Scheduled",
    kind: "Pod",
    namespace: "default",
    name,
    message: "assigned to a node",
    count: 1,
    ...event,
  };
}

let version = 100;

/** A change as a watcher delivers it. */
export function changed<T extends { readonly uid: string } | { readonly name: string }>(
  kept: T,
  type: "put" | "delete" = "put",
): {
  readonly type: "changes";
  readonly changes: readonly { readonly type: "put" | "delete"; readonly object: Watched<T> }[];
  readonly resourceVersion: string;
} {
  return { type: "changes", changes: [{ type, object: watched(kept) }], resourceVersion: String(++version) };
}

export function reset<T extends { readonly uid: string } | { readonly name: string }>(
  all: readonly T[],
): { readonly type: "reset"; readonly objects: readonly Watched<T>[]; readonly resourceVersion: string } {
  return { type: "reset", objects: all.map(watched), resourceVersion: "100" };
}

function watched<T extends { readonly uid: string } | { readonly name: string }>(kept: T): Watched<T> {
  const { name = "", uid = "" } = kept as { readonly name?: string; readonly uid?: string };
  return {
    apiVersion: "v1",
    kind: "Any",
    metadata: { name, uid, resourceVersion: "1" } as Watched<T>["metadata"],
    kept,
  };
}

export interface Shown {
  readonly nodes?: readonly NodeCell[];
  readonly pods?: readonly PodCell[];
  readonly events?: readonly EventLine[];
}

export function modelOf({ nodes = [], pods = [], events = [] }: Shown): ClusterModel {
  const model = new ClusterModel();
  model.applyNodes(reset(nodes));
  model.applyPods(reset(pods), 0);
  model.applyEvents(reset(events));
  return model;
}

const AROUND: Surroundings = {
  glyphs: "shapes",
  now: LATER,
  title: "dev",
  passesPerSecond: 12.3,
  notConverged: 0,
  trouble: undefined,
  hasSynced: true,
};

/** A user before a screen. */
export class Desk {
  readonly model: ClusterModel;
  readonly size: ScreenSize;
  view: View = FIRST_VIEW;
  around: Surroundings = AROUND;

  constructor(model: ClusterModel, columns: number, rows: number) {
    this.model = model;
    this.size = { columns, rows };
  }

  get layout(): Layout {
    return layOut(this.model, this.view, this.size);
  }

  get text(): string {
    const { model, view, layout, around } = this;
    return drawWatch({ model, view, layout, around }).text();
  }

  /** Presses keys, by their names or characters. Returns the effect of the last one. */
  press(...keys: readonly string[]): Pressed["effect"] {
    let effect: Pressed["effect"];
    for (const key of keys) {
      const named =
        key.length === 1 ? ({ name: "char", char: key } as const) : { name: key as KeyName, char: "" };
      const pressed = pressKey(this.view, named, { model: this.model, layout: this.layout });
      this.view = pressed.view;
      effect = pressed.effect;
      if (effect?.type === "filter") this.model.setFilter(effect.text);
    }
    return effect;
  }
}
