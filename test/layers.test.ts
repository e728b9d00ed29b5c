/** The only layer table: allowed imports between folders, type imports included. */
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { sourceFiles, withoutComments, type SourceFile } from "./source-files.ts";

const SDK = ["base", "api", "resources", "client", "runtime"];
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  store: ["base"],
  api: ["base"],
  resources: ["base", "api"],
  streams: ["base", "api"],
  server: ["base", "api", "resources", "store", "streams"],
  client: ["base", "api"],
  runtime: ["base", "api", "client"],
  controllers: [...SDK, "insight"],
  scheduler: SDK,
  agent: [...SDK, "streams"],
  cluster: [...SDK, "streams", "store", "server", "controllers", "scheduler", "agent"],
  insight: ["base", "api", "client"],
  cli: ["base", "api", "resources", "client", "runtime", "streams", "insight", "cluster"],
  testing: [...SDK, "store", "server", "cluster"],
  // src/index.ts, the package's main entry.
  "index.ts": ["cluster"],
};

/** A folder of src/server imports itself and folders on lower floors, type imports included. */
const SERVER_FLOORS: readonly (readonly string[])[] = [
  ["objects", "pki"],
  ["request", "egress"],
  ["transport", "access", "representation", "relay", "write"],
  ["admission", "custom", "stages"],
  ["verbs"],
  ["upkeep", "nodes"],
  ["aggregation"],
  ["routes"],
  ["pipeline.ts", "options.ts", "surroundings.ts"],
  ["server.ts"],
];

describe("layers", () => {
  test("every file of src/ imports only the layers below its own", () => {
    const files = sourceFiles("src");

    expect(files.length).toBeGreaterThan(2000);
    expect(files.flatMap((file) => violations(file).map((message) => `${file.path}: ${message}`))).toEqual(
      [],
    );
  });

  test.each([
    ['import { x } from "../server/x.ts";', "store/ may not import server/"],
    ['import type { X } from "../../server/x.ts";', "store/ may not import server/"],
    ['export { x } from "../api/x.ts";', "store/ may not import api/"],
    ['await import("../client/x.ts");', "store/ may not import client/"],
    ['import "setpoint/store";', "setpoint/store must be a relative import"],
    ['import { x } from "../testing/x.ts";', "store/ may not import testing/"],
    ['import { x } from "../helpers/x.ts";', "store/ may not import helpers/"],
  ])("%s is refused in store/", (text, message) => {
    const folder = text.includes("../../") ? "src/store/file" : "src/store";
    expect(violations({ path: `${folder}/seeded.ts`, text })).toEqual([message]);
  });

  test("a test may also import testing/", () => {
    const text = 'import { x } from "../testing/x.ts";';
    expect(violations({ path: "src/store/seeded.test.ts", text })).toEqual([]);
  });

  test("a folder that is not in the table is refused", () => {
    expect(violations({ path: "src/helpers/x.ts", text: "" })).toEqual(["helpers/ is not a layer"]);
  });
});

describe("floors of src/server", () => {
  test("every file imports only rooms on lower floors", () => {
    const sources = sourceFiles("src/server").filter(({ path }) => !isForTests(path));

    expect(sources.length).toBeGreaterThan(400);
    expect(sources.flatMap((file) => climbs(file).map((message) => `${file.path}: ${message}`))).toEqual([]);
  });

  test.each([
    ['import type { X } from "../routes/health/x.ts";', "verbs may not import routes"],
    ['import { x } from "../upkeep/x.ts";', "verbs may not import upkeep"],
    ['import { x } from "../server.ts";', "verbs may not import server.ts"],
    ['import { x } from "../cellar/x.ts";', "verbs may not import cellar"],
  ])("%s is refused in verbs/", (text, message) => {
    expect(climbs({ path: "src/server/verbs/seeded.ts", text })).toEqual([message]);
  });

  test("a room on the same floor is refused", () => {
    const text = 'import { x } from "../write/x.ts";';
    expect(climbs({ path: "src/server/access/seeded.ts", text })).toEqual(["access may not import write"]);
  });

  test("a room that is on no floor is refused", () => {
    expect(climbs({ path: "src/server/cellar/x.ts", text: "" })).toEqual(["cellar is on no floor"]);
  });
});

describe("rooms beside each other", () => {
  test("import each other in one direction, in no circle", () => {
    const edges = siblingEdges(sourceFiles("src").filter(({ path }) => !isForTests(path)));
    expect(findCircle(edges)).toEqual([]);
  });

  test("a circle is found", () => {
    const edges = siblingEdges([
      { path: "src/a/one/x.ts", text: 'import "../two/x.ts";' },
      { path: "src/a/two/x.ts", text: 'import "../three/x.ts";' },
      { path: "src/a/three/x.ts", text: 'import "../one/x.ts";' },
    ]);
    expect(findCircle(edges)).toHaveLength(3);
  });
});

/** For each folder, the folders beside it that its files import, each with one such file. */
function siblingEdges(sources: readonly SourceFile[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const edges = new Map<string, Map<string, string>>();
  for (const { path, text } of sources)
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith(".")) continue;
      const [from, to] = [path.split("/"), posix.join(posix.dirname(path), specifier).split("/")];
      const depth = from.findIndex((part, index) => part !== to[index]);
      if (depth < 0 || depth >= from.length - 1 || depth >= to.length - 1) continue;
      const folder = from.slice(0, depth + 1).join("/");
      const beside = to.slice(0, depth + 1).join("/");
      edges.set(folder, (edges.get(folder) ?? new Map<string, string>()).set(beside, path));
    }
  return edges;
}

/** Edges of a cycle, each with a file that makes it; empty if there is none. */
function findCircle(edges: ReadonlyMap<string, ReadonlyMap<string, string>>): readonly string[] {
  const done = new Set<string>();
  const walk = (folder: string, way: readonly string[]): readonly string[] => {
    const begin = way.indexOf(folder);
    if (begin >= 0) return describeWay([...way.slice(begin), folder], edges);
    if (done.has(folder)) return [];
    for (const beside of edges.get(folder)?.keys() ?? []) {
      const circle = walk(beside, [...way, folder]);
      if (circle.length > 0) return circle;
    }
    done.add(folder);
    return [];
  };
  for (const folder of edges.keys()) {
    const circle = walk(folder, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

function describeWay(
  way: readonly string[],
  edges: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly string[] {
  return way.slice(1).map((to, index) => {
    const from = way[index] ?? "";
    return `${from} → ${to} (${edges.get(from)?.get(to) ?? ""})`;
  });
}

/** Whether a file is a test, or only tests use it. */
function isForTests(path: string): boolean {
  return /\.test\.ts$|fixture\.ts$|sample-requests\.ts$/.test(path);
}

function climbs({ path, text }: SourceFile): readonly string[] {
  const from = roomOf(path);
  const own = floorOf(from);
  if (own < 0) return [`${from} is on no floor`];
  const relative = importsOf(text).filter((specifier) => specifier.startsWith("."));
  const targets = relative.map((specifier) => posix.join(posix.dirname(path), specifier));
  const rooms = targets.filter((target) => target.startsWith("src/server/")).map(roomOf);
  return rooms
    .filter((to) => to !== from && !(floorOf(to) >= 0 && floorOf(to) < own))
    .map((to) => `${from} may not import ${to}`);
}

function floorOf(room: string): number {
  return SERVER_FLOORS.findIndex((rooms) => rooms.includes(room));
}

function roomOf(path: string): string {
  return path.split("/")[2] ?? "";
}

function violations({ path, text }: SourceFile): readonly string[] {
  const from = layerOf(path);
  const below = LAYERS[from];
  if (below === undefined) return [`${from}/ is not a layer`];
  const allowed = [from, ...below, ...(path.endsWith(".test.ts") ? ["testing"] : [])];
  const found: string[] = [];
  for (const specifier of importsOf(text)) {
    const to = layerOf(posix.join(posix.dirname(path), specifier));
    if (/^setpoint(\/|$)/.test(specifier)) found.push(`${specifier} must be a relative import`);
    else if (specifier.startsWith(".") && !allowed.includes(to)) found.push(`${from}/ may not import ${to}/`);
  }
  return found;
}

function layerOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function importsOf(text: string): readonly string[] {
  const imports = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
  return [...withoutComments(text).matchAll(imports)].map((match) => match[1] ?? "");
}
