/** `setpoint get`: tables as the server makes them, or whole objects. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { kindText } from "../../client/served-resources.ts";
import { findText, UsageError, type Command } from "../command.ts";
import { answersFor } from "./answers.ts";
import { FailureList } from "./failure-list.ts";
import { listOf, ObjectStream, objectText, withoutManagedFields, type ObjectFormat } from "./object-text.ts";
import { tableIn } from "./server-table.ts";
import { TablePrinter, type Table, type TableView } from "./table-text.ts";
import { refuseNamesBesideChoice, targetsOf, type Target } from "./targets.ts";
import { allNamespacesOption, fieldSelectorOption, selectorOption, verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";
import { watchObjects, type WatchedView } from "./watch-objects.ts";

export const getCommand: Command = {
  name: "get",
  isKubectlVerb: true,
  usage: ["[objects...]"],
  help: "show objects: TYPE, TYPE NAME or TYPE/NAME",
  options: [
    { flags: "-o, --output <format>", help: "format", choices: ["wide", "yaml", "json", "name"] },
    { flags: "-w, --watch", help: "keep showing changes" },
    allNamespacesOption,
    selectorOption,
    fieldSelectorOption,
    { flags: "--at <moment>", help: "as it was: a revision, a time, or -5m" },
    { flags: "--no-headers", help: "tables without headers" },
    { flags: "--show-labels", help: "labels as the last column" },
    { flags: "--ignore-not-found", help: "missing objects are no error" },
    ...verbOptions,
  ],
  run: (io, args) => withSession(io, args, get),
};

async function get(session: VerbSession): Promise<void> {
  const { args } = session;
  const targets = byResource(targetsOf(args.rest, session));
  const format = findText(args, "output");
  refuseContradictions(session, targets);
  if (args.options["watch"] === true)
    return watchObjects(session, targets, (target) => watchedView(session, target, format));
  if (format === "name") return printNames(session, targets);
  if (format === "yaml" || format === "json") return printObjects(session, targets, format);
  return printTables(session, targets);
}

function refuseContradictions({ args, namespace }: VerbSession, targets: readonly Target[]): void {
  refuseNamesBesideChoice({ args, namespace }, targets);
  if (args.options["watch"] === true && findText(args, "at") !== undefined)
    throw new UsageError("--at shows the past, which does not change: leave --watch out");
}

function watchedView(session: VerbSession, target: Target, format: string | undefined): WatchedView {
  if (format === undefined || format === "wide") {
    const printer = new TablePrinter(viewOf(session, target, false));
    const textOf = (value: unknown): string => {
      const table = tableIn(value);
      return table.rows.length === 0 ? "" : printer.print(table);
    };
    return { form: "table", textOf };
  }
  if (format === "name")
    return {
      form: "object",
      textOf: (value) =>
        objectsIn(value, target)
          .map((object) => nameLine(target, object))
          .join(""),
    };
  const stream = new ObjectStream(format as ObjectFormat);
  return {
    form: "object",
    textOf: (value) =>
      objectsIn(value, target)
        .map((each) => stream.next(each))
        .join(""),
  };
}

async function printNames(session: VerbSession, targets: readonly Target[]): Promise<void> {
  const failures = failuresOf(session);
  for (const { objects, ...target } of await objectsOf(session, targets, failures))
    session.io.stdout(objects.map((object) => nameLine(target, object)).join(""));
  failures.throwIfAny();
}

async function printObjects(
  session: VerbSession,
  targets: readonly Target[],
  format: ObjectFormat,
): Promise<void> {
  const failures = failuresOf(session);
  const found = (await objectsOf(session, targets, failures)).flatMap(({ objects }) => objects);
  const isSingle = targets.length === 1 && targets[0]?.names?.length === 1;
  const [first] = found;
  if (!isSingle) session.io.stdout(objectText(listOf(found), format));
  else if (first !== undefined) session.io.stdout(objectText(first, format));
  failures.throwIfAny();
}

interface FoundObjects extends Target {
  readonly objects: readonly JsonObject[];
}

async function objectsOf(
  session: VerbSession,
  targets: readonly Target[],
  failures: FailureList,
): Promise<readonly FoundObjects[]> {
  const found: FoundObjects[] = [];
  for (const target of targets) {
    const objects: JsonObject[] = [];
    for await (const answer of answersFor(session, target, "object")) {
      if ("error" in answer) failures.add(answer.error);
      else objects.push(...objectsIn(answer.value, target));
    }
    found.push({ ...target, objects });
  }
  return found;
}

async function printTables(session: VerbSession, targets: readonly Target[]): Promise<void> {
  const failures = failuresOf(session);
  const found: { readonly target: Target; readonly tables: readonly Table[] }[] = [];
  for (const target of targets) {
    const tables: Table[] = [];
    for await (const answer of answersFor(session, target, "table")) {
      if ("error" in answer) failures.add(answer.error);
      else tables.push(tableIn(answer.value));
    }
    if (tables.length > 0) found.push({ target, tables });
  }
  let printed = 0;
  for (const { target, tables } of found) {
    const rows = tables.flatMap((table) => table.rows);
    const [first] = tables;
    if (first === undefined || rows.length === 0) continue;
    const printer = new TablePrinter(viewOf(session, target, found.length > 1));
    session.io.stdout((printed++ > 0 ? "\n" : "") + printer.print({ ...first, rows }));
  }
  if (printed === 0 && failures.isEmpty && !ignoresMissing(session))
    session.io.stderr(`${nothingText(session, targets)}\n`);
  failures.throwIfAny();
}

function nothingText({ namespace }: VerbSession, targets: readonly Target[]): string {
  const isWithin = namespace !== undefined && targets.every(({ resource }) => resource.namespaced);
  return isWithin ? `No resources found in ${namespace} namespace.` : "No resources found";
}

function viewOf({ args, namespace }: VerbSession, { resource }: Target, isPrefixed: boolean): TableView {
  return {
    isWide: findText(args, "output") === "wide",
    withNamespace: namespace === undefined && resource.namespaced,
    withHeaders: args.options["headers"] !== false,
    withLabels: args.options["showLabels"] === true,
    namePrefix: isPrefixed ? `${kindText(resource)}/` : "",
  };
}

function failuresOf(session: VerbSession): FailureList {
  return new FailureList(session.io, ignoresMissing(session) ? ["NotFound"] : []);
}

function ignoresMissing({ args }: VerbSession): boolean {
  return args.options["ignoreNotFound"] === true;
}

/** Targets of one resource in one, so that their rows share a table. */
function byResource(targets: readonly Target[]): readonly Target[] {
  const merged = new Map<string, Target>();
  for (const target of targets) {
    const key = `${target.resource.apiVersion}/${target.resource.plural}`;
    const before = merged.get(key);
    const names = before === undefined ? target.names : [...(before.names ?? []), ...(target.names ?? [])];
    merged.set(key, { resource: target.resource, names });
  }
  return [...merged.values()];
}

/** Items of a list leave their kind out. */
function objectsIn(value: unknown, { resource: { apiVersion, kind } }: Target): readonly JsonObject[] {
  if (!isJsonObject(value)) return [];
  const { items } = value;
  const objects = Array.isArray(items) ? items.filter((item) => isJsonObject(item)) : [value];
  return objects.map((object) => withoutManagedFields({ apiVersion, kind, ...object }));
}

/** `deployment.apps/web`. */
function nameLine({ resource }: Target, { metadata }: JsonObject): string {
  return `${kindText(resource)}/${isJsonObject(metadata) ? String(metadata["name"]) : ""}\n`;
}
