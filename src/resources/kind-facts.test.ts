/** The rules of every kind agree with the facts of the API. */
import { describe, expect, test } from "vitest";
import { apiVersionOf, groupVersions } from "../api/schema/resource-facts.ts";
import { kinds } from "./index.ts";
import { KindProbe } from "./rules/kind-probe.ts";

const resources = groupVersions().flatMap((facts) => facts.resources);

describe.each(
  kinds.map((definition) => [`${definition.apiVersion} ${definition.kind}`, definition] as const),
)("%s", (_, definition) => {
  const probe = new KindProbe(definition);
  const facts = resources.find(
    (it) => apiVersionOf(it) === definition.apiVersion && it.kind === definition.kind,
  );

  test("is a kind of the API", () => {
    expect(facts).toBeDefined();
  });

  test("has a cell for every column, even of an empty object", () => {
    const columns = definition.rules.columns ?? facts?.columns ?? [];

    expect(probe.cells({})).toHaveLength(columns.length);
  });

  test("has a value for every field selector", () => {
    expect(Object.keys(probe.fields({})).toSorted()).toEqual([...(facts?.fieldSelectors ?? [])].toSorted());
  });

  test("fills in defaults only once", () => {
    const { apiVersion: _version, kind: _kind, ...once } = probe.read({});
    expect(probe.read(once)).toEqual(probe.read({}));
  });
});

test("kinds with one storage live equally long in the store, in every version", () => {
  const lives = new Map<string, Set<string>>();
  for (const { apiVersion, kind, rules } of kinds) {
    const facts = resources.find((it) => apiVersionOf(it) === apiVersion && it.kind === kind);
    const { ttlSeconds, isRecord, isHeartbeat } = rules;
    const life = JSON.stringify([ttlSeconds, isRecord, isHeartbeat]);
    const prefix = facts?.storage?.prefix ?? kind;
    lives.set(prefix, (lives.get(prefix) ?? new Set()).add(life));
  }

  expect([...lives].filter(([, found]) => found.size > 1)).toEqual([]);
  expect(lives.get("events")).toEqual(new Set(["[3600,true,null]"]));
});
