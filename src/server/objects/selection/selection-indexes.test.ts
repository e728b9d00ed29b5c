import fc from "fast-check";
import { expect, test } from "vitest";
import { parseFieldSelector } from "../../../api/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../api/selectors/label-query.ts";
import { labelsMatch } from "../../../api/selectors/label-selector.ts";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import { kinds } from "../../../resources/index.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { View } from "../../../store/store.ts";
import { openAccessFixture } from "../../access/authz/fixture.ts";
import { Registry } from "../registry.ts";
import type { StoredResource } from "../registry.ts";
import { StoredObject } from "../stored-object.ts";
import { SelectionIndexes } from "./selection-indexes.ts";

const PODS = "/registry/pods/";
const registry = new Registry(kinds);

function pods(): StoredResource {
  const resource = registry.find({ group: "", version: "v1", resource: "pods" });
  return resource as StoredResource;
}

function selection(labels: string, fields = ""): Parameters<SelectionIndexes["select"]>[0] {
  return { labels: parseLabelSelector(labels), fields: parseFieldSelector(fields) };
}

class Fixture {
  readonly #fixture = openAccessFixture();
  readonly metrics = createMetrics();
  readonly indexes: SelectionIndexes;

  constructor(maxBytes?: number) {
    const loop = createRealLoop({ name: "test" });
    this.indexes = new SelectionIndexes({
      loop,
      metrics: this.metrics,
      ...(maxBytes !== undefined && { maxBytes }),
    });
  }

  get view(): View {
    return this.#fixture.store.view;
  }

  async put(path: string, labels: Record<string, string>, nodeName?: string): Promise<void> {
    const [namespace, name] = path.split("/");
    await this.#fixture.put(`pods/${path}`, {
      metadata: { namespace, name, uid: "u", labels },
      spec: { nodeName, containers: [] },
      status: {},
    });
  }

  remove(path: string): Promise<void> {
    return this.#fixture.remove(`pods/${path}`);
  }

  /** Candidates of the second query, which makes the index. */
  async select(
    labels: string,
    fields = "",
    { view = this.view, below = PODS } = {},
  ): Promise<string[] | undefined> {
    const range = { from: below, to: prefixEnd(below) };
    await this.indexes.select(selection(labels, fields), pods(), { view, range });
    const selected = await this.indexes.select(selection(labels, fields), pods(), { view, range });
    return selected === undefined
      ? undefined
      : Array.from(selected.keys, ({ key }) => key.slice(PODS.length));
  }
}

test("the first query for a label finds no index, the second one does", async () => {
  const fixture = new Fixture();
  await fixture.put("a/one", { app: "web" });
  await fixture.put("b/two", { app: "db" });
  const where = { view: fixture.view, range: { from: PODS, to: prefixEnd(PODS) } };
  expect(await fixture.indexes.select(selection("app=web"), pods(), where)).toBeUndefined();
  const second = await fixture.indexes.select(selection("app=web"), pods(), where);
  expect(Array.from(second?.keys ?? [])).toMatchObject([{ key: `${PODS}a/one` }]);
});

test.each([
  ["app=web", "", ["a/one", "b/four"]],
  ["app in (web,db)", "", ["a/one", "a/two", "b/four"]],
  ["app=none", "", []],
  ["app=web,tier!=x", "", ["a/one", "b/four"]],
  ["app=web,rare=yes", "", ["a/one"]],
  ["", "spec.nodeName=n1", ["a/two"]],
  ["", "spec.nodeName=", ["a/one", "a/three", "b/four"]],
  ["", "metadata.namespace=b", ["b/four"]],
])("an index answers labels %j and fields %j with the keys %j", async (labels, fields, expected) => {
  const fixture = new Fixture();
  await fixture.put("a/one", { app: "web", rare: "yes" });
  await fixture.put("a/two", { app: "db" }, "n1");
  await fixture.put("a/three", {});
  await fixture.put("b/four", { app: "web" });
  expect(await fixture.select(labels, fields)).toEqual(expected);
});

test.each(["app!=web", "app notin (web)", "!app", "app"])("no index answers %j", async (labels) => {
  const fixture = new Fixture();
  await fixture.put("a/one", { app: "web" });
  expect(await fixture.select(labels)).toBeUndefined();
});

test("candidates stay in the namespace of the list", async () => {
  const fixture = new Fixture();
  await fixture.put("a/one", { app: "web" });
  await fixture.put("ab/two", { app: "web" });
  expect(await fixture.select("app=web", "", { below: `${PODS}a/` })).toEqual(["a/one"]);
});

const step = fc.record({
  name: fc.constantFrom("a/p0", "a/p1", "b/p2", "b/p3"),
  labels: fc.option(fc.record({ app: fc.constantFrom("x", "y", "z") }, { requiredKeys: [] })),
});

test("for any writes, an index has every object that a scan finds, at the newest view and at older ones", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), async (steps, seed) => {
      const fixture = new Fixture();
      const views: View[] = [fixture.view];
      for (const [at, { name, labels }] of steps.entries()) {
        await (labels === null ? fixture.remove(name) : fixture.put(name, labels as Record<string, string>));
        views.push(fixture.view);
        const view = views[(seed + at * 7) % views.length] ?? fixture.view;
        for (const query of ["app=x", "app in (x,y)"]) {
          const scanned = [...view.range(PODS, prefixEnd(PODS))].filter((entry) =>
            labelsMatch(parseLabelSelector(query), StoredObject.of(entry).object.metadata.labels),
          );
          const keys = await fixture.select(query, "", { view });
          expect(keys, "the second query has an index").toBeDefined();
          const matching = (keys ?? []).filter((key) => scanned.some((entry) => entry.key === PODS + key));
          expect(matching).toEqual(scanned.map(({ key }) => key.slice(PODS.length)));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("an index beyond the bound of memory is dropped, and the metric says so", async () => {
  const fixture = new Fixture(2000);
  for (let at = 0; at < 10; at += 1) await fixture.put(`a/p${String(at)}`, { id: `v${String(at)}` });
  expect(await fixture.select("id=v3"), "the query that made it still uses it").toEqual(["a/p3"]);
  expect(await fixture.select("id=v3")).toBeUndefined();
  const shown = await fixture.metrics.expose();
  expect(shown).toContain("setpoint_apiserver_selection_indexes_refused_total 1");
  expect(shown).toContain("setpoint_apiserver_selection_index_bytes 0");
});

test("an index of a label that changes at each write keeps one value for each object", async () => {
  const fixture = new Fixture();
  const put = (value: number): Promise<void> =>
    fixture.put(`a/p${String(value % 10)}`, { id: `v${String(value)}` });
  for (let value = 0; value < 10; value += 1) await put(value);
  expect(await fixture.select("id=v3")).toEqual(["a/p3"]);
  const { bytes } = fixture.indexes;

  for (let value = 10; value < 500; value += 1) {
    await put(value);
    if (value % 100 === 0) expect(await fixture.select(`id=v${String(value)}`)).toEqual(["a/p0"]);
  }

  expect(await fixture.select("id in (v3,v493)")).toEqual(["a/p3"]);
  expect(fixture.indexes.bytes).toBe(bytes);
});

test("a selector with 10,000 values has an index", async () => {
  const fixture = new Fixture();
  for (let at = 0; at < 20; at += 1) await fixture.put(`a/p${String(at)}`, { id: `v${String(at)}` });
  const values = Array.from({ length: 10_000 }, (_, at) => `v${String(at)}`);
  expect(await fixture.select(`id in (${values.join(",")})`)).toHaveLength(20);
});
