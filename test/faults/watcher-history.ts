/** Compares a watcher's deliveries with the real history. */
import type { ApiObject } from "../../src/api/api-object.ts";
import type { WatcherEvent } from "../../src/runtime/watch/watcher-event.ts";

/** A change, as the server sent it to a client whose connection never fails. */
export interface Happened {
  readonly type: "put" | "delete";
  readonly name: string;
  readonly version: number;
}

/**
 * Lists all violations. Each state must be no older than earlier deliveries and exact at its version; the changes after it must be the very
 * next ones, in order, without gap and each once.
 */
export function watcherViolations(
  delivered: readonly WatcherEvent<ApiObject>[],
  happened: readonly Happened[],
): readonly string[] {
  const wrong: string[] = [];
  let newest = 0;
  /** Index of the first change that was not delivered. */
  let next = 0;
  for (const event of delivered) {
    const version = Number(event.resourceVersion);
    if (version < newest) wrong.push(`${event.type} at ${version} after ${newest}`);
    newest = Math.max(newest, version);
    if (event.type === "reset") next = happened.filter((change) => change.version <= version).length;
    wrong.push(...wrongIn(event, happened, next));
    if (event.type === "changes") next += event.changes.length;
  }
  return wrong;
}

function wrongIn(
  event: WatcherEvent<ApiObject>,
  happened: readonly Happened[],
  next: number,
): readonly string[] {
  const version = Number(event.resourceVersion);
  if (event.type === "reset") {
    const [seen, was] = [stateText(event.objects), stateAt(happened, version)];
    return seen === was ? [] : [`the state at ${version} is ${seen}, not ${was}`];
  }
  if (event.type === "changes") {
    return event.changes.flatMap(({ type, object }, index) => {
      const [seen, was] = [changeText(type, object), textOf(happened[next + index])];
      return seen === was ? [] : [`${seen} in place of ${was}`];
    });
  }
  const missed = happened[next];
  return missed !== undefined && missed.version <= version
    ? [`${textOf(missed)} is missing at ${version}`]
    : [];
}

function changeText(type: string, { metadata }: ApiObject): string {
  return `${type} ${metadata.name ?? ""}@${metadata.resourceVersion ?? ""}`;
}

function textOf(change: Happened | undefined): string {
  return change === undefined ? "nothing" : `${change.type} ${change.name}@${change.version}`;
}

function stateAt(happened: readonly Happened[], version: number): string {
  const state = new Map<string, number>();
  for (const change of happened) {
    if (change.version > version) break;
    if (change.type === "put") state.set(change.name, change.version);
    else state.delete(change.name);
  }
  return [...state]
    .map(([name, at]) => `${name}@${at}`)
    .toSorted()
    .join();
}

export function stateText(objects: readonly ApiObject[]): string {
  return objects
    .map(({ metadata }) => `${metadata.name ?? ""}@${metadata.resourceVersion ?? ""}`)
    .toSorted()
    .join();
}
