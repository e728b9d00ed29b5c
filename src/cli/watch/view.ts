import { wrapLines } from "../../insight/text/text-width.ts";
/** The user's choices of what to see, and how keys change them. Pure. */
import type { Key } from "../terminal/key-reader.ts";
import { FORMS, type Form, type Layout } from "./layout.ts";
import type { PodEntry } from "./node-box.ts";
import {
  moveSelection,
  selectedBox,
  selectedPod,
  type Direction,
  type Ground,
  type Selection,
} from "./selection.ts";

export interface View {
  readonly pane: "cluster" | "events";
  readonly selection: Selection;
  /** Index of the selected Event, the newest is 0. */
  readonly event: number;
  readonly filter: string;
  readonly form: Form | undefined;
  readonly firstRow: number;
  readonly panel: Panel | undefined;
  readonly prompt: Prompt | undefined;
  /** One line at the bottom: an outcome or an error. */
  readonly message: Message | undefined;
}

/** Text in place of the Events. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly string[];
  readonly firstLine: number;
}

export interface Message {
  readonly text: string;
  readonly isError: boolean;
}

export type Prompt =
  /** The filter while it is typed, and the one that Escape brings back. */
  | { readonly type: "filter"; readonly text: string; readonly before: string }
  | { readonly type: "confirm"; readonly question: string; readonly effect: Effect };

/** Work for the session outside of the view. */
export type Effect =
  | { readonly type: "quit" | "help" }
  | { readonly type: "filter"; readonly text: string }
  | Action;

/** Effects that send requests to the server. */
export type Action =
  | { readonly type: "kill"; readonly pod: PodReference }
  | { readonly type: "power"; readonly node: string; readonly isOn: boolean }
  | { readonly type: "scale"; readonly pod: PodReference; readonly by: 1 | -1 }
  | WhyAction;

export interface WhyAction {
  readonly type: "why";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface PodReference {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Pressed {
  readonly view: View;
  readonly effect?: Effect;
}

export const FIRST_VIEW: View = {
  pane: "cluster",
  selection: { node: undefined, place: -1 },
  event: 0,
  filter: "",
  form: undefined,
  firstRow: 0,
  panel: undefined,
  prompt: undefined,
  message: undefined,
};

const FILTER_MAX = 100;

export function pressKey(view: View, key: Key, ground: Ground): Pressed {
  if (view.prompt?.type === "filter") return typeFilter(view, view.prompt, key);
  if (view.prompt?.type === "confirm") return confirm(view, view.prompt.effect, key);
  const quiet = view.message === undefined ? view : { ...view, message: undefined };
  return press(quiet, key, ground);
}

function typeFilter(view: View, prompt: Prompt & { readonly type: "filter" }, key: Key): Pressed {
  const { text, before } = prompt;
  if (key.name === "enter") return { view: { ...view, prompt: undefined } };
  if (key.name === "escape") return filtered({ ...view, prompt: undefined }, before);
  const typed =
    key.name === "backspace"
      ? Array.from(text).slice(0, -1).join("")
      : (text + key.char).slice(0, FILTER_MAX);
  return typed === text ? { view } : filtered({ ...view, prompt: { ...prompt, text: typed } }, typed);
}

function filtered(view: View, text: string): Pressed {
  return { view: { ...view, filter: text, firstRow: 0 }, effect: { type: "filter", text } };
}

function confirm(view: View, effect: Effect, key: Key): Pressed {
  const isYes = key.name === "enter" || key.char.toLowerCase() === "y";
  if (isYes) return { view: { ...view, prompt: undefined }, effect };
  return { view: told({ ...view, prompt: undefined }, "nothing was done") };
}

export function told(view: View, text: string, isError = false): View {
  return { ...view, message: { text, isError } };
}

const DIRECTIONS: readonly Direction[] = [
  "up",
  "down",
  "left",
  "right",
  "home",
  "end",
  "page-up",
  "page-down",
];

type Press = (view: View, ground: Ground) => Pressed;

/** By the name of the key, or by its character. */
const PRESSES: Readonly<Record<string, Press>> = {
  tab: (view) => ({ view: otherPane(view) }),
  "back-tab": (view) => ({ view: otherPane(view) }),
  escape: (view) => leave(view),
  delete: kill,
  k: kill,
  enter: why,
  w: why,
  f: power,
  "+": (view, ground) => scale(view, ground, 1),
  "=": (view, ground) => scale(view, ground, 1),
  "-": (view, ground) => scale(view, ground, -1),
  "/": (view) => ({
    view: { ...view, prompt: { type: "filter", text: view.filter, before: view.filter } },
  }),
  z: (view, ground) => ({ view: zoom(view, ground) }),
  q: (view) => ({ view, effect: { type: "quit" } }),
  "?": (view) => ({ view, effect: { type: "help" } }),
};

function press(view: View, { name, char }: Key, ground: Ground): Pressed {
  const direction = DIRECTIONS.find((each) => each === name);
  if (direction !== undefined) return { view: move(view, direction, ground) };
  const id = name === "char" ? char : name;
  return Object.hasOwn(PRESSES, id) ? (PRESSES[id]?.(view, ground) ?? { view }) : { view };
}

function otherPane(view: View): View {
  return { ...view, pane: view.pane === "cluster" ? "events" : "cluster", panel: undefined };
}

/** Closes the panel, then clears the filter. */
function leave(view: View): Pressed {
  if (view.panel !== undefined) return { view: { ...view, panel: undefined } };
  return view.filter === "" ? { view } : filtered(view, "");
}

function move(view: View, direction: Direction, ground: Ground): View {
  const { panel } = view;
  if (panel !== undefined && (view.pane === "events" || direction.startsWith("page")))
    return { ...view, panel: scrolled(panel, direction, ground.layout) };
  if (view.pane === "events") {
    const last = Math.max(0, ground.model.eventCount - 1);
    return { ...view, event: Math.min(Math.max(0, view.event + step(direction, ground)), last) };
  }
  return { ...view, selection: moveSelection(view.selection, direction, ground) };
}

function step(direction: Direction, { layout }: Ground): number {
  const page = Math.max(1, layout.lower.height - 2);
  const steps = { up: -1, down: 1, "page-up": -page, "page-down": page, home: -Infinity, end: Infinity };
  return direction === "left" || direction === "right" ? 0 : steps[direction];
}

function scrolled(panel: Panel, direction: Direction, { lower, size }: Layout): Panel {
  const height = lower.height - 1;
  const page = Math.max(1, height - 1);
  const by = direction === "page-up" ? -page : direction === "page-down" ? page : direction === "up" ? -1 : 1;
  const last = Math.max(0, wrapLines(panel.lines, size.columns - 2).length - height);
  return { ...panel, firstLine: Math.min(Math.max(0, panel.firstLine + by), last) };
}

function kill(view: View, ground: Ground): Pressed {
  const pod = selectedPod(view.selection, ground);
  if (pod === undefined) return { view: told(view, "select a pod to delete it", true) };
  const effect = { type: "kill", pod: referenceOf(pod) } as const;
  const question = `delete Pod ${pod.shown.namespace}/${pod.shown.name}?`;
  return { view: { ...view, prompt: { type: "confirm", question, effect } } };
}

function power(view: View, ground: Ground): Pressed {
  const node = selectedBox(view.selection, ground)?.node;
  if (node === undefined) return { view: told(view, "select a node, or a pod on it", true) };
  if (node.isDown) return { view, effect: { type: "power", node: node.name, isOn: true } };
  if (!node.isSimulated)
    return { view: told(view, `${node.name} is no simulated node: its power cannot be cut from here`, true) };
  const effect = { type: "power", node: node.name, isOn: false } as const;
  return {
    view: { ...view, prompt: { type: "confirm", question: `cut the power of ${node.name}?`, effect } },
  };
}

function scale(view: View, ground: Ground, by: 1 | -1): Pressed {
  const pod = selectedPod(view.selection, ground);
  if (pod === undefined) return { view: told(view, "select a pod to scale its owner", true) };
  return { view, effect: { type: "scale", pod: referenceOf(pod), by } };
}

function why(view: View, ground: Ground): Pressed {
  if (view.pane === "events") {
    const line = ground.model.events(view.event + 1)[view.event];
    if (line === undefined) return { view };
    const { kind, namespace, name } = line;
    return { view, effect: { type: "why", kind, namespace, name } };
  }
  const pod = selectedPod(view.selection, ground)?.shown;
  if (pod !== undefined)
    return { view, effect: { type: "why", kind: "Pod", namespace: pod.namespace, name: pod.name } };
  const node = selectedBox(view.selection, ground)?.node;
  if (node === undefined) return { view: told(view, "select a pod or a node to ask about it", true) };
  return { view, effect: { type: "why", kind: "Node", namespace: "", name: node.name } };
}

function zoom(view: View, { layout }: Ground): View {
  const at = FORMS.indexOf(layout.grid.form);
  return { ...view, form: FORMS[(at + 1) % FORMS.length], firstRow: 0 };
}

function referenceOf({ shown: { uid, namespace, name } }: PodEntry): PodReference {
  return { uid, namespace, name };
}
