/** Tests that all walks of this folder agree on leaves, maps and lists, with values of real kinds. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../json/json-object.ts";
import { builtInStruct } from "../../schema/built-in-schema.ts";
import { zeroStruct } from "../../schema/go-zero.ts";
import { toNormalForm } from "../../schema/normal-form.ts";
import { findConfigMistakes } from "./check-config.ts";
import { compare, isSame, addedOrModified } from "./compare.ts";
import { difference, type FieldSet, fieldSet, isEmpty, paths, pathText, union } from "./field-set.ts";
import { merge } from "./merge.ts";
import { newFieldsOf } from "./new-fields.ts";
import { allFieldsOf, fieldsOf } from "./present-fields.ts";
import { extractFields, removeFields } from "./remove.ts";
import { alignedWith, withNamedFields } from "./set-schema.ts";

const POD = builtInStruct("core.v1.Pod");
const POD_SPEC = builtInStruct("core.v1.PodSpec");
const META = builtInStruct("meta.v1.ObjectMeta");
const SERVICE_SPEC = builtInStruct("core.v1.ServiceSpec");
const CONTROLLER_REVISION = builtInStruct("apps.v1.ControllerRevision");

function texts(set: FieldSet): readonly string[] {
  return [...paths(set)].map(pathText);
}

const WEB = { name: "web", image: "web:1", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] };

describe("fieldsOf", () => {
  test("claims leaves, keys and items, not their containers; list keys get their defaults", () => {
    expect(fieldsOf({ containers: [WEB] }, POD_SPEC)).toEqual({
      "f:containers": {
        'k:{"name":"web"}': {
          ".": {},
          "f:env": { 'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} } },
          "f:image": {},
          "f:name": {},
          "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
        },
      },
    });
  });

  test("claims metadata maps by key, finalizers by value, and owners whole by uid", () => {
    const value = {
      labels: { b: "1", a: "2" },
      annotations: {},
      finalizers: ["x/y"],
      ownerReferences: [{ uid: "u1", name: "o", kind: "K", apiVersion: "v1" }],
    };

    expect(JSON.stringify(fieldsOf(value, META))).toBe(
      '{"f:annotations":{},"f:finalizers":{"v:\\"x/y\\"":{}},"f:labels":{"f:a":{},"f:b":{}},"f:ownerReferences":{"k:{\\"uid\\":\\"u1\\"}":{}}}',
    );
  });

  test("claims atomic lists and structs, raw JSON and nulls as leaves, and nothing for an empty list", () => {
    const spec = { tolerations: [{ key: "a" }], nodeSelector: { a: "1" }, containers: [], volumes: null };

    expect(texts(fieldsOf(spec, POD_SPEC))).toEqual([".nodeSelector", ".tolerations", ".volumes"]);
    expect(texts(fieldsOf({ data: { a: { b: 1 } }, revision: 1 }, CONTROLLER_REVISION))).toEqual([
      ".data",
      ".revision",
    ]);
    expect(texts(fieldsOf({ selector: { a: "1" } }, SERVICE_SPEC))).toEqual([".selector"]);
  });

  test("claims items with equal keys together", () => {
    const ports = [{ port: 53, protocol: "UDP" }, { port: 53 }, { port: 53, name: "b" }];

    expect(texts(fieldsOf({ ports }, SERVICE_SPEC))).toEqual([
      '.ports[port=53,protocol="TCP"]',
      '.ports[port=53,protocol="UDP"]',
      '.ports[port=53,protocol="UDP"].port',
      '.ports[port=53,protocol="UDP"].protocol',
    ]);
  });

  test("gives an element to items without keys that Go omits when zero, and to invalid items", () => {
    expect(texts(fieldsOf({ imagePullSecrets: [{}] }, POD_SPEC))).toEqual(['.imagePullSecrets[name=""]']);
    const odd = { finalizers: [null, { a: 1 }, ["x"], true] };
    expect(Object.keys(fieldsOf(odd, META)["f:finalizers"] ?? {})).toHaveLength(4);
  });

  test("treats __proto__ and constructor as ordinary fields", () => {
    const value: unknown = JSON.parse('{"labels":{"__proto__":"1","constructor":"2"}}');

    expect(texts(fieldsOf(value, META))).toEqual([".labels.__proto__", ".labels.constructor"]);
  });
});

describe("compare", () => {
  const before = { containers: [WEB, { name: "log", image: "log:1" }], nodeName: "a" };

  test("separates added, modified and removed fields", () => {
    const after = {
      containers: [
        { name: "new", image: "n:1" },
        { ...WEB, image: "web:2", ports: [] },
      ],
      nodeName: "a",
      hostNetwork: true,
    };

    const { added, modified, removed } = compare(before, after, POD_SPEC);

    expect(texts(added)).toEqual([
      ".hostNetwork",
      '.containers[name="new"]',
      '.containers[name="new"].image',
      '.containers[name="new"].name',
    ]);
    expect(texts(modified)).toEqual(['.containers[name="web"].image']);
    expect(texts(removed)).toEqual([
      '.containers[name="log"]',
      '.containers[name="log"].image',
      '.containers[name="log"].name',
      '.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
      '.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort',
    ]);
  });

  test("adds the container of a new field, unless the container was there, empty", () => {
    expect(compare({}, { labels: { a: "1" } }, META).added).toEqual({ "f:labels": { ".": {}, "f:a": {} } });
    expect(compare({ labels: {} }, { labels: { a: "1" } }, META).added).toEqual({
      "f:labels": { "f:a": {} },
    });
    expect(compare({ labels: null }, { labels: { a: "1" } }, META).added).toEqual({
      "f:labels": { "f:a": {} },
    });
  });

  test("ignores the order of lists and the identity of equal objects", () => {
    const other = { ...before, containers: before.containers.toReversed().map((item) => ({ ...item })) };

    expect(isSame(compare(before, other, POD_SPEC))).toBe(true);
  });

  test("reports a change of type of an unknown field: fields below the old value are removed, those below the new one added", () => {
    const parts = { unknown: { a: { b: 1 } } };

    expect(compare({ unknown: [1] }, parts, POD_SPEC)).toEqual({
      added: { "f:unknown": { "f:a": { ".": {}, "f:b": {} } } },
      modified: { "f:unknown": {} },
      removed: {},
    });
    expect(compare(parts, { unknown: "text" }, POD_SPEC)).toEqual({
      added: {},
      modified: { "f:unknown": {} },
      removed: { "f:unknown": { "f:a": { ".": {}, "f:b": {} } } },
    });
  });

  test("treats repeated items as one leaf", () => {
    const port = { port: 53, protocol: "UDP" };
    const repeated = { ports: [port, { ...port, name: "b" }] };

    expect(texts(compare({ ports: [port] }, repeated, SERVICE_SPEC).added)).toEqual([
      '.ports[port=53,protocol="UDP"]',
    ]);
    expect(texts(compare(repeated, { ports: [port] }, SERVICE_SPEC).removed)).toEqual([
      '.ports[port=53,protocol="UDP"]',
    ]);
    expect(texts(compare(repeated, { ports: [port, port] }, SERVICE_SPEC).modified)).toEqual([
      '.ports[port=53,protocol="UDP"]',
    ]);
  });
});

describe("merge", () => {
  function mergedNames(live: readonly string[], config: readonly string[]): readonly string[] {
    const spec = (names: readonly string[]): object => ({ containers: names.map((name) => ({ name })) });
    const merged = merge(spec(live), spec(config), POD_SPEC) as { containers: readonly { name: string }[] };
    return merged.containers.map(({ name }) => name);
  }

  test("merges items by key, takes leaves from the configuration, and shares the rest", () => {
    const live = { containers: [WEB], nodeName: "n", tolerations: [{ key: "a" }] };
    const config = {
      containers: [{ name: "web", image: "web:2", ports: [{ containerPort: 80, name: "http" }] }],
    };

    const merged = merge(live, config, POD_SPEC) as typeof live;

    expect(merged).toEqual({
      ...live,
      containers: [{ ...WEB, image: "web:2", ports: [{ containerPort: 80, name: "http" }] }],
    });
    expect(merged.tolerations).toBe(live.tolerations);
  });

  test("returns the live value itself when it has no effect", () => {
    const live = { containers: [WEB], nodeName: "n" };

    expect(merge(live, { containers: [{ name: "web", image: "web:1" }], volumes: undefined }, POD_SPEC)).toBe(
      live,
    );
    expect(merge(live, { containers: [] }, POD_SPEC)).toBe(live);
    expect(merge(live, { containers: null }, POD_SPEC)).toBe(live);
  });

  test.each([
    ["abc", "", "abc"],
    ["abc", "bx", "abcx"],
    ["abcd", "dbx", "acdbx"],
    ["ab", "xab", "xab"],
    ["ab", "ba", "ba"],
    ["abc", "ca", "bca"],
    ["", "ab", "ab"],
    ["abcde", "eXcYa", "bdeXcYa"],
  ])("orders the items of %s and %s as %s", (live, config, expected) => {
    expect(mergedNames(live.split(""), config.split(""))).toEqual(expected.split(""));
  });

  test("unites sets and replaces atomic values", () => {
    expect(merge({ finalizers: ["a", "b"] }, { finalizers: ["c", "a"] }, META)).toEqual({
      finalizers: ["c", "a", "b"],
    });
    expect(merge({ selector: { a: "1" } }, { selector: { b: "1" } }, SERVICE_SPEC)).toEqual({
      selector: { b: "1" },
    });
  });

  test("keeps all items of both lists, those of the configuration in its order", () => {
    const names = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d", "e", "f", "g"));
    fc.assert(
      fc.property(names, names, (live, config) => {
        const merged = mergedNames(live, config);

        expect(merged.toSorted()).toEqual([...new Set([...live, ...config])].toSorted());
        expect(merged.filter((name) => config.includes(name))).toEqual(config);
        expect(merged.filter((name) => !config.includes(name))).toEqual(
          live.filter((name) => !config.includes(name)),
        );
      }),
    );
  });
});

describe("removeFields and extractFields", () => {
  const spec = { containers: [WEB, { name: "log", image: "log:1" }], nodeName: "n" };

  test("remove members, items and leaves", () => {
    const fields = fieldsOf({ containers: [{ name: "log", image: "" }] }, POD_SPEC);

    expect(removeFields(spec, fields, POD_SPEC)).toEqual({ containers: [WEB], nodeName: "n" });
  });

  test("turn an emptied map into null, and return the value itself when nothing is removed", () => {
    expect(
      removeFields({ labels: { a: "1" }, name: "n" }, fieldsOf({ labels: { a: "" } }, META), META),
    ).toEqual({
      labels: null,
      name: "n",
    });
    expect(removeFields(spec, fieldsOf({ volumes: [{ name: "v" }] }, POD_SPEC), POD_SPEC)).toBe(spec);
  });

  test("extract the configuration that the owner of the set applied", () => {
    const config = { containers: [{ name: "web", image: "web:1" }], nodeName: "n" };

    expect(extractFields(spec, fieldsOf(config, POD_SPEC), POD_SPEC)).toEqual(config);
    const image = { "f:containers": { 'k:{"name":"web"}': { "f:image": {} } } };
    expect(extractFields(spec, image, POD_SPEC)).toEqual({ containers: [{ name: "web", image: "web:1" }] });
    expect(extractFields(spec, { "f:volumes": {} }, POD_SPEC)).toBeUndefined();
  });
});

describe("sets and schemas", () => {
  test("struct fields above members become members; items and keys do not", () => {
    const set = { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } };

    expect(withNamedFields(set, POD)).toEqual({
      "f:spec": { ".": {}, "f:containers": { ".": {}, 'k:{"name":"a"}': { "f:image": {} } } },
    });
  });

  test("an owner of a part owns the whole once it is atomic", () => {
    const set = { "f:spec": { "f:nodeSelector": { "f:a": {} }, "f:nodeName": {} } };

    expect(alignedWith(set, POD)).toEqual({ "f:spec": { "f:nodeSelector": {}, "f:nodeName": {} } });
    const fitting = { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } };
    expect(alignedWith(fitting, POD)).toBe(fitting);
  });
});

describe("findConfigMistakes", () => {
  test.each([
    [{ spec: { foo: 1 } }, ".spec.foo: field not declared in schema"],
    [{ metadata: { name: 1 } }, ".metadata.name: expected string, got int64"],
    [{ spec: { priority: "x" } }, ".spec.priority: expected numeric (int or float), got string"],
    [{ spec: { hostNetwork: "yes" } }, ".spec.hostNetwork: expected boolean, got string"],
    [{ spec: { containers: {} } }, ".spec.containers: expected list, got map[string]interface {}"],
    [{ spec: [] }, ".spec: expected map, got []interface {}"],
    [
      { spec: { containers: [{ name: "a" }, { name: "a" }] } },
      '.spec.containers: duplicate entries for key [name="a"]',
    ],
    [
      { spec: { containers: [{ name: "a", env: [null] }] } },
      '.spec.containers[name="a"].env: element 0: associative list with keys may not have a null element',
    ],
    [
      { spec: { priority: "x", a: 1 } },
      "errors:\n  .spec.priority: expected numeric (int or float), got string\n  .spec.a: field not declared in schema",
    ],
  ])("%j", (config, message) => {
    expect(findConfigMistakes(config, POD)).toBe(message);
  });

  test("a valid configuration has none, whatever the spelling of its scalars", () => {
    const limits = { cpu: 1, memory: "1Gi" };
    const config = {
      spec: { containers: [{ name: "a", resources: { limits }, ports: [{ containerPort: 80 }] }] },
    };

    expect(findConfigMistakes(config, POD)).toBeUndefined();
  });
});

test("a comparison with undefined gives all fields, and removing them leaves nothing", () => {
  const { added } = compare({}, { spec: { containers: [WEB] } }, POD);

  expect(added).toEqual({ "f:spec": allFieldsOf({ containers: [WEB] }, POD_SPEC) });
  expect(isEmpty(difference(added, union(added, added)))).toBe(true);
});

describe("newFieldsOf", () => {
  const text = fc.constantFrom("a", "b", "__proto__");
  const port = fc.record({ containerPort: fc.integer({ min: 1, max: 2 }), hostPort: fc.constantFrom(0, 1) });
  const container = fc.record(
    {
      name: text,
      image: text,
      ports: fc.array(port),
      resources: fc.record({ limits: fc.constant({ cpu: "1" }) }),
    },
    { requiredKeys: [] },
  );
  const spec = fc.record(
    {
      containers: fc.array(container, { maxLength: 2 }),
      nodeSelector: fc.dictionary(text, text),
      tolerations: fc.array(fc.record({ key: text })),
      hostNetwork: fc.boolean(),
      securityContext: fc.constantFrom({}, { runAsUser: 0 }),
    },
    { requiredKeys: [] },
  );
  const metadata = fc.record({ name: text, labels: fc.dictionary(text, text) }, { requiredKeys: [] });
  const pod = fc.record({ metadata, spec }, { requiredKeys: [] });

  test("equal the fields added to an empty object", () => {
    fc.assert(
      fc.property(pod, (sent) => {
        const { value } = toNormalForm(POD, sent);

        const found = addedOrModified(compare(zeroStruct(POD), value, POD));

        expect(JSON.stringify(newFieldsOf(value, POD))).toBe(JSON.stringify(found));
      }),
      { seed: 1 },
    );
  });

  test("are one set for objects with the same keys, without the excepted fields", () => {
    const value = (labels: object, uid: string): JsonObject =>
      toNormalForm(POD, { kind: "Pod", metadata: { labels, uid }, status: { phase: uid } }).value;
    const except = fieldSet(["f:kind"], ["f:metadata"], ["f:metadata", "f:uid"], ["f:status"]);

    const first = newFieldsOf(value({ a: "1" }, "x"), POD, except);

    expect(first).toEqual({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } });
    expect(newFieldsOf(value({ a: "2" }, "y"), POD, except)).toBe(first);
    expect(newFieldsOf(value({ b: "1" }, "x"), POD, except)).not.toEqual(first);
  });

  test("of an object with a frozen spec include its other fields", () => {
    const frozen = Object.freeze(toNormalForm(POD, { spec: { nodeName: "n" } }).value["spec"]);
    const value = (labels: object): JsonObject => ({
      ...toNormalForm(POD, { metadata: { labels } }).value,
      spec: frozen,
    });
    const expected = (label: string): object => ({
      "f:metadata": { "f:labels": { ".": {}, [`f:${label}`]: {} } },
      "f:spec": { "f:nodeName": {} },
    });

    const first = newFieldsOf(value({ a: "1" }), POD);

    expect(first).toEqual(expected("a"));
    expect(newFieldsOf(value({ a: "2" }), POD)).toBe(first);
    expect(newFieldsOf(value({ b: "1" }), POD)).toEqual(expected("b"));
    expect(newFieldsOf(value({ a: "1" }), POD, fieldSet(["f:metadata"]))).toEqual({
      "f:spec": { "f:nodeName": {} },
    });
  });

  test("of a frozen part are computed once per schema", () => {
    const labels = Object.freeze({ a: "1" });
    const value = Object.freeze({ labels });

    expect(newFieldsOf({ metadata: value }, POD)).toEqual({
      "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
    });
    expect(newFieldsOf(value, META)).toEqual({ "f:labels": { ".": {}, "f:a": {} } });
    expect(newFieldsOf({ spec: { nodeSelector: labels } }, POD)).toEqual({
      "f:spec": { "f:nodeSelector": {} },
    });
  });
});
