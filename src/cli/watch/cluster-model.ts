import { orderOfVersions } from "../../runtime/refs/resource-version.ts";
/**
 * The cluster as the screen shows it: boxes with pods, counts and Events. Each change costs the objects that it names, `tick`
 * those that move. Nothing here does I/O; times come with the calls.
 *
 * A pod may pass through all its phases within milliseconds. Each phase is shown for `HOLD_MS`, so that eyes can
 * follow, and a deleted pod leaves a mark for `GHOST_MS`.
 */
import type { WatcherEvent } from "../../runtime/watch/watcher-event.ts";
import { NodeBox, noCounts, PLACES_MAX, type PhaseCounts, type PodEntry } from "./node-box.ts";
import { compileFilter, type PodFilter } from "./pod-filter.ts";
import type { EventLine, NodeCell, PodCell, Watched } from "./watched-objects.ts";

const HOLD_MS = 250;
const GHOST_MS = 800;
/** A cell that has changed is highlighted for this long. */
export const FRESH_MS = 500;
/** States of a pod that wait to be shown; more are left out. */
const NEXT_MAX = 6;
/** With more pods in motion no eye can follow one: all are shown at once. */
const MOVING_MAX = 2000;
const EVENTS_MAX = 200;

const BY_NUMBER = new Intl.Collator("en", { numeric: true });

export class ClusterModel {
  /** Pods without a node. */
  readonly unscheduled = new NodeBox("");
  readonly counts: PhaseCounts = noCounts();
  nodes = 0;
  readyNodes = 0;
  /** Newest revision that an event carried. */
  revision = "";
  /** Objects and places that were looked at so far. */
  visited = 0;
  readonly #boxes = new Map<string, NodeBox>();
  readonly #pods = new Map<string, PodEntry>();
  readonly #moving = new Set<PodEntry>();
  readonly #events = new Map<string, EventLine>();
  #filter: PodFilter = compileFilter("");
  /** Number of nodes' boxes by the places that they use. */
  readonly #lengths = new Uint32Array(PLACES_MAX + 1);
  /** Boxes in order; undefined until they are asked for after a change. */
  #order: readonly NodeBox[] | undefined;
  #shown: readonly NodeBox[] | undefined;
  #now = 0;

  /** Pods that the screen shows, also those that are about to go. */
  get pods(): number {
    return this.#pods.size;
  }

  /** Whether `tick` has something to do. */
  get isMoving(): boolean {
    return this.#moving.size > 0;
  }

  /** Boxes of the nodes that the filter shows, by name. */
  get boxes(): readonly NodeBox[] {
    this.#shown ??= this.#listed();
    return this.#shown;
  }

  /** A part of `boxes`, to be drawn. */
  boxesFrom(first: number, count: number): readonly NodeBox[] {
    const part = this.boxes.slice(first, first + count);
    this.visited += part.length;
    return part;
  }

  /** Index of a node in `boxes`; -1 when it is not there. */
  indexOf(name: string): number {
    const { boxes } = this;
    const box = this.#boxes.get(name);
    return box !== undefined && boxes[box.index] === box ? box.index : -1;
  }

  /** Most places that the box of a node uses. */
  get places(): number {
    return Math.max(
      0,
      this.#lengths.findLastIndex((count) => count > 0),
    );
  }

  /** Newest Event first. */
  events(count: number): readonly EventLine[] {
    const skipped = Math.max(0, this.#events.size - count);
    return [...this.#events.values()].slice(skipped).toReversed();
  }

  get eventCount(): number {
    return this.#events.size;
  }

  setFilter(text: string): void {
    this.#filter = compileFilter(text);
    for (const entry of this.#pods.values()) this.#match(entry);
    this.#shown = undefined;
  }

  applyNodes(event: WatcherEvent<Watched<NodeCell>>): void {
    if (event.type === "reset") {
      const kept = new Set(event.objects.map(({ metadata }) => metadata.name));
      for (const [name, { node }] of this.#boxes)
        if (node !== undefined && !kept.has(name)) this.#setNode(name, undefined);
      for (const { kept: node } of event.objects) this.#setNode(node.name, node);
    }
    if (event.type === "changes")
      for (const { type, object } of event.changes)
        this.#setNode(object.kept.name, type === "put" ? object.kept : undefined);
    this.#note(event.resourceVersion);
  }

  applyPods(event: WatcherEvent<Watched<PodCell>>, now: number): void {
    this.#now = now;
    if (event.type === "reset") this.#resetPods(event.objects);
    if (event.type === "changes")
      for (const { type, object } of event.changes) {
        if (type === "put") this.#putPod(object.kept);
        else this.#removePod(object.kept.uid);
      }
    this.#note(event.resourceVersion);
  }

  applyEvents(event: WatcherEvent<Watched<EventLine>>): void {
    if (event.type === "reset") {
      this.#events.clear();
      const lines = event.objects.map(({ kept }) => kept).toSorted((a, b) => a.at - b.at);
      for (const line of lines.slice(-EVENTS_MAX)) this.#events.set(line.uid, line);
    }
    if (event.type === "changes")
      for (const { type, object } of event.changes) if (type === "put") this.#putEvent(object.kept);
    this.#note(event.resourceVersion);
  }

  /** Moves pods on to their next states as time passes. */
  tick(now: number): void {
    this.#now = now;
    for (const entry of this.#moving) {
      this.visited++;
      this.#advance(entry);
    }
  }

  #advance(entry: PodEntry): void {
    const age = this.#now - entry.changedAt;
    if (entry.isGhost) {
      if (age >= GHOST_MS) this.#forget(entry);
    } else if (entry.next.length > 0) {
      if (age >= HOLD_MS) this.#show(entry, entry.next.shift() as PodCell);
    } else if (entry.isGone) {
      if (age >= HOLD_MS) this.#haunt(entry);
    } else if (age >= FRESH_MS) this.#moving.delete(entry);
  }

  #resetPods(objects: readonly Watched<PodCell>[]): void {
    const isFirst = this.#pods.size === 0;
    const kept = new Set(objects.map(({ kept: { uid } }) => uid));
    for (const uid of this.#pods.keys()) if (!kept.has(uid)) this.#removePod(uid);
    for (const object of objects) this.#putPod(object.kept);
    if (!isFirst) return;
    // The first state is not highlighted as a change.
    for (const entry of this.#moving) entry.changedAt = -Infinity;
    this.#moving.clear();
  }

  #putPod(pod: PodCell): void {
    this.visited++;
    const entry = this.#pods.get(pod.uid);
    if (entry === undefined) {
      this.#addPod(pod);
      return;
    }
    const last = entry.next.at(-1) ?? entry.shown;
    if (isAtSamePlace(last, pod)) {
      if (entry.next.length > 0) entry.next[entry.next.length - 1] = pod;
      else entry.shown = pod;
      return;
    }
    const isLate = this.#now - entry.changedAt < HOLD_MS || entry.next.length > 0;
    if (!isLate || this.#moving.size > MOVING_MAX) {
      entry.next.length = 0;
      this.#show(entry, pod);
      return;
    }
    if (entry.next.length >= NEXT_MAX) entry.next.shift();
    entry.next.push(pod);
    this.#moving.add(entry);
  }

  #addPod(pod: PodCell): void {
    const isMatch = this.#filter.matches(pod);
    const box = this.#box(pod.node);
    const entry: PodEntry = {
      shown: pod,
      next: [],
      isGone: false,
      isGhost: false,
      changedAt: this.#now,
      box,
      place: undefined,
      isMatch,
    };
    this.#pods.set(pod.uid, entry);
    this.#enter(box, entry);
    this.#count(entry, 1);
    this.#moving.add(entry);
  }

  #show(entry: PodEntry, pod: PodCell): void {
    this.#count(entry, -1);
    const box = this.#box(pod.node);
    if (box !== entry.box) {
      this.#leave(entry);
      this.#enter(box, entry);
    }
    entry.shown = pod;
    entry.changedAt = this.#now;
    this.#count(entry, 1);
    this.#moving.add(entry);
  }

  #removePod(uid: string): void {
    this.visited++;
    const entry = this.#pods.get(uid);
    if (entry === undefined) return;
    entry.isGone = true;
    this.#moving.add(entry);
    if (this.#moving.size > MOVING_MAX) {
      if (!entry.isGhost) this.#haunt(entry);
      this.#forget(entry);
    }
  }

  #haunt(entry: PodEntry): void {
    this.#count(entry, -1);
    entry.isGhost = true;
    entry.changedAt = this.#now;
  }

  #forget(entry: PodEntry): void {
    this.#leave(entry);
    this.#moving.delete(entry);
    this.#pods.delete(entry.shown.uid);
  }

  #enter(box: NodeBox, entry: PodEntry): void {
    this.#countLength(box, -1);
    this.visited += box.add(entry);
    this.#countLength(box, 1);
  }

  #leave(entry: PodEntry): void {
    const { box } = entry;
    this.#countLength(box, -1);
    box.remove(entry);
    this.#countLength(box, 1);
    this.#drop(box);
  }

  #countLength(box: NodeBox, by: 1 | -1): void {
    if (box !== this.unscheduled) this.#lengths[box.length] = (this.#lengths[box.length] ?? 0) + by;
  }

  #count(entry: PodEntry, by: 1 | -1): void {
    const { box, shown } = entry;
    this.counts[shown.phase] += by;
    box.count(shown.phase, by);
    if (entry.isMatch) this.#addMatch(box, by);
  }

  #match(entry: PodEntry): void {
    this.visited++;
    const isMatch = this.#filter.matches(entry.shown);
    if (isMatch !== entry.isMatch && !entry.isGhost) this.#addMatch(entry.box, isMatch ? 1 : -1);
    entry.isMatch = isMatch;
  }

  #addMatch(box: NodeBox, by: 1 | -1): void {
    const before = box.matches;
    box.matches += by;
    if (before === 0 || box.matches === 0) this.#shown = undefined;
  }

  #setNode(name: string, node: NodeCell | undefined): void {
    this.visited++;
    const box = this.#box(name);
    this.nodes += Number(node !== undefined) - Number(box.node !== undefined);
    this.readyNodes += Number(node?.isReady === true) - Number(box.node?.isReady === true);
    box.node = node;
    this.#drop(box);
  }

  #box(name: string): NodeBox {
    if (name === "") return this.unscheduled;
    const known = this.#boxes.get(name);
    if (known !== undefined) return known;
    const box = new NodeBox(name);
    this.#boxes.set(name, box);
    this.#countLength(box, 1);
    this.#order = this.#shown = undefined;
    return box;
  }

  #drop(box: NodeBox): void {
    if (!box.isEmpty || box === this.unscheduled) return;
    this.#boxes.delete(box.name);
    this.#countLength(box, -1);
    this.#order = this.#shown = undefined;
  }

  #listed(): readonly NodeBox[] {
    this.#order ??= [...this.#boxes.values()].toSorted((a, b) => BY_NUMBER.compare(a.name, b.name));
    const listed = this.#filter.isEmpty ? this.#order : this.#order.filter(({ matches }) => matches > 0);
    for (const [index, box] of listed.entries()) box.index = index;
    this.visited += listed.length;
    return listed;
  }

  #putEvent(line: EventLine): void {
    this.#events.delete(line.uid);
    this.#events.set(line.uid, line);
    const [oldest] = this.#events.keys();
    if (this.#events.size > EVENTS_MAX && oldest !== undefined) this.#events.delete(oldest);
  }

  #note(version: string): void {
    if (orderOfVersions(version, this.revision) !== "older") this.revision = version;
  }
}

function isAtSamePlace(one: PodCell, other: PodCell): boolean {
  return one.node === other.node && one.phase === other.phase;
}
