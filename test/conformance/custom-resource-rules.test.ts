import { describe, expect, test } from "vitest";
import { TestApi, watchEvents } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

interface Rule {
  readonly rule: string;
  readonly [field: string]: unknown;
}

function rules(...all: readonly Rule[]): object {
  return { "x-kubernetes-validations": all };
}

/** A definition whose `spec` has the properties and the rules. */
function definition(properties: object, ...all: readonly Rule[]): object {
  const spec = { type: "object", properties, ...(all.length > 0 && rules(...all)) };
  const schema = { type: "object", properties: { spec } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

function widget(spec: object, metadata: object = {}): object {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", ...metadata }, spec };
}

async function define(made: object): Promise<{ readonly api: TestApi; readonly reply: Reply }> {
  const api = await TestApi.start();
  return { api, reply: await api.send("POST", DEFINITIONS, made) };
}

/** An API with the kind; instances can be created as soon as the definition is established. */
async function withWidgets(properties: object, ...all: readonly Rule[]): Promise<TestApi> {
  const { api, reply } = await define(definition(properties, ...all));
  if (reply.code !== 201) throw new Error(JSON.stringify(reply.body));
  await established(api);
  return api;
}

/** Waits by a watch that begins with the present state, as clients do. */
async function established(api: TestApi): Promise<void> {
  const ending = new AbortController();
  const response = await api.raw("GET", `${DEFINITIONS}?watch=1&resourceVersion=0`, undefined, {
    signal: ending.signal,
  });
  for await (const { object } of watchEvents(response)) {
    const conditions = (object["status"]?.["conditions"] ?? []) as Condition[];
    if (!conditions.some(({ type, status }) => type === "Established" && status === "True")) continue;
    ending.abort();
    return;
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

function messages({ body }: Reply): readonly string[] {
  const causes = (body["details"]?.["causes"] ?? []) as { field: string; message: string }[];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

const REPLICAS = { replicas: { type: "integer" }, max: { type: "integer" }, note: { type: "string" } };

describe("a rule of a custom resource", () => {
  test("refuses what it does not hold for, with its message", async () => {
    await using api = await withWidgets(REPLICAS, {
      rule: "self.replicas <= self.max",
      message: "replicas must not exceed max",
    });

    const refused = await api.send("POST", WIDGETS, widget({ replicas: 3, max: 2 }));
    const accepted = await api.send("POST", WIDGETS, widget({ replicas: 2, max: 2 }));

    expect(refused.code).toBe(422);
    expect(messages(refused)).toEqual(["spec: Invalid value: replicas must not exceed max"]);
    expect(accepted.code).toBe(201);
  });

  test("without a message is shown itself", async () => {
    await using api = await withWidgets(REPLICAS, { rule: " self.replicas > 0 " });

    const refused = await api.send("POST", WIDGETS, widget({ replicas: 0 }));

    expect(messages(refused)).toEqual(["spec: Invalid value: failed rule: self.replicas > 0"]);
  });

  test("may make its message, and falls back when it cannot", async () => {
    await using api = await withWidgets(
      REPLICAS,
      { rule: "self.replicas > 0", messageExpression: "'replicas is %d'.format([self.replicas])" },
      { rule: "self.replicas > 0", messageExpression: "self.note", message: "plain" },
    );

    const refused = await api.send("POST", WIDGETS, widget({ replicas: -1 }));

    expect(messages(refused)).toEqual(["spec: Invalid value: replicas is -1", "spec: Invalid value: plain"]);
  });

  test("names the field and the reason that it says", async () => {
    await using api = await withWidgets(
      REPLICAS,
      { rule: "self.replicas > 0", fieldPath: ".replicas", reason: "FieldValueForbidden", message: "none" },
      { rule: "has(self.note)", fieldPath: ".note", reason: "FieldValueRequired", message: "write one" },
    );

    const refused = await api.send("POST", WIDGETS, widget({ replicas: 0 }));

    expect(messages(refused)).toEqual([
      "spec.replicas: Forbidden: none",
      "spec.note: Required value: write one",
    ]);
  });

  test("that fails to run refuses and says why", async () => {
    await using api = await withWidgets(
      { ...REPLICAS, port: { "x-kubernetes-int-or-string": true } },
      { rule: "self.max / self.replicas > 0" },
      { rule: "self.note == 'a'" },
      { rule: "!has(self.port) || self.port > 5" },
    );

    const refused = await api.send("POST", WIDGETS, widget({ replicas: 0, max: 1, port: "a" }));

    expect(messages(refused)).toEqual([
      'spec: Invalid value: "object": division by zero evaluating rule: self.max / self.replicas > 0',
      "spec: Invalid value: \"object\": no such key: note evaluating rule: self.note == 'a'",
      "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: !has(self.port) || self.port > 5",
    ]);
  });

  test("is not run on an object whose structure is wrong", async () => {
    await using api = await withWidgets(REPLICAS, { rule: "self.replicas > 0" });

    const refused = await api.send("POST", WIDGETS, widget({ replicas: "many" }));

    expect(messages(refused).at(-1)).toBe(
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    );
  });

  test("that costs too much is cancelled quickly", async () => {
    const numbers = { type: "array", maxItems: 1200, items: { type: "integer" } };
    await using api = await withWidgets(
      { numbers },
      { rule: "self.numbers.all(a, self.numbers.all(b, a <= b))" },
    );

    const refused = await api.send(
      "POST",
      WIDGETS,
      widget({ numbers: Array.from({ length: 1200 }, () => 1) }),
    );

    expect(messages(refused)).toEqual([
      "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.numbers.all(a, self.numbers.all(b, a <= b))",
    ]);
  });

  test("is not run any more once the others have cost too much", async () => {
    const item = {
      type: "array",
      maxItems: 100,
      items: { type: "integer" },
      ...rules({ rule: "self.all(a, self.all(b, a <= b))" }),
    };
    await using api = await withWidgets({ rows: { type: "array", maxItems: 50, items: item } });
    const row = Array.from({ length: 100 }, () => 1);

    const refused = await api.send("POST", WIDGETS, widget({ rows: Array.from({ length: 50 }, () => row) }));

    expect(messages(refused)).toEqual([
      expect.stringMatching(
        /^spec\.rows\[\d+\]: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run$/,
      ),
    ]);
  });

  test("and its message say which of them cost too much", async () => {
    const work = "string(self.all(a, self.all(b, a <= b)))";
    const list = (maxItems: number): object => ({
      type: "array",
      maxItems,
      items: { type: "integer" },
      ...rules({ rule: "false", messageExpression: work }),
    });
    const ones = (length: number): number[] => Array.from({ length }, () => 1);
    await using api = await withWidgets({
      numbers: list(1200),
      rows: { type: "array", maxItems: 50, items: list(100) },
    });

    const alone = await api.send("POST", WIDGETS, widget({ numbers: ones(1200) }));
    const together = await api.send(
      "POST",
      WIDGETS,
      widget({ rows: Array.from({ length: 50 }, () => ones(100)) }),
    );

    expect(messages(alone)).toEqual([
      `spec.numbers: Invalid value: "array": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${work}"`,
    ]);
    expect(messages(together).at(-1)).toMatch(
      /^spec\.rows\[\d+\]: Invalid value: "array": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run$/,
    );
  });

  test("whose message joins a text of unknown length is refused, as upstream refuses it", async () => {
    const { api, reply } = await define(
      definition(REPLICAS, { rule: "true", messageExpression: "'replicas is ' + string(self.replicas)" }),
    );
    await using _ = api;

    expect(messages(reply)[0]).toContain(
      "x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x ",
    );
  });

  test("that may cost too much is refused with the definition", async () => {
    const numbers = { type: "array", items: { type: "integer" } };

    const { api, reply } = await define(
      definition({ numbers }, { rule: "self.numbers.all(a, self.numbers.all(b, a <= b))" }),
    );
    await using _ = api;

    expect(messages(reply)[0]).toBe(
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
    );
  });

  test("sees values by the types of the schema", async () => {
    const typed = {
      share: { type: "number" },
      since: { type: "string", format: "date-time" },
      pause: { type: "string", format: "duration" },
      "dashed-name": { type: "string" },
      namespace: { type: "string" },
      labels: { type: "object", maxProperties: 20, additionalProperties: { type: "string" } },
    };
    await using api = await withWidgets(
      typed,
      { rule: "self.share < 1.0 && type(self.share) == double", message: "share" },
      { rule: "self.since < timestamp('2030-01-01T00:00:00Z')", message: "since" },
      { rule: "self.pause <= duration('1h')", message: "pause" },
      {
        rule: "self.dashed__dash__name.startsWith('a') && self.__namespace__ != '' && self.namespace != ''",
        message: "names",
      },
      { rule: "self.labels.all(k, v, k.matches('^[a-z]+$') && v.size() < 3)", message: "labels" },
      { rule: "self.?labels[?'x'].orValue('y') == 'y'", message: "optional" },
    );
    const good = {
      share: 0,
      since: "2026-01-01T00:00:00Z",
      pause: "5m",
      "dashed-name": "ab",
      namespace: "n",
      labels: { a: "1" },
    };
    const bad = {
      share: 1,
      since: "2031-01-01T00:00:00Z",
      pause: "2h",
      "dashed-name": "b",
      namespace: "n",
      labels: { A: "1", x: "z" },
    };

    const accepted = await api.send("POST", WIDGETS, widget(good));
    const refused = await api.send("POST", WIDGETS, widget(bad, { name: "b" }));

    expect(accepted.code).toBe(201);
    expect(messages(refused).map((message) => message.split(": ").at(-1))).toEqual([
      "share",
      "since",
      "pause",
      "names",
      "labels",
      "optional",
    ]);
  });
});

describe("a transition rule", () => {
  test("compares with what was there before, and not at creation", async () => {
    await using api = await withWidgets(REPLICAS, {
      rule: "self.replicas >= oldSelf.replicas",
      message: "cannot shrink",
    });
    await api.send("POST", WIDGETS, widget({ replicas: 3 }));

    const grown = await api.send("PATCH", `${WIDGETS}/a`, { spec: { replicas: 4 } }, MERGE);
    const shrunk = await api.send("PATCH", `${WIDGETS}/a`, { spec: { replicas: 1 } }, MERGE);

    expect(grown.code).toBe(200);
    expect(messages(shrunk)).toEqual(["spec: Invalid value: cannot shrink"]);
  });

  test("finds an item of a list by its keys", async () => {
    const port = {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, number: { type: "integer" } },
      ...rules({ rule: "self.number == oldSelf.number", message: "the number is fixed" }),
    };
    const ports = {
      type: "array",
      items: port,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    await using api = await withWidgets({ ports });
    await api.send(
      "POST",
      WIDGETS,
      widget({
        ports: [
          { name: "a", number: 1 },
          { name: "b", number: 2 },
        ],
      }),
    );

    const moved = await api.send(
      "PATCH",
      `${WIDGETS}/a`,
      {
        spec: {
          ports: [
            { name: "b", number: 2 },
            { name: "c", number: 9 },
          ],
        },
      },
      MERGE,
    );
    const changed = await api.send(
      "PATCH",
      `${WIDGETS}/a`,
      {
        spec: {
          ports: [
            { name: "c", number: 9 },
            { name: "b", number: 3 },
          ],
        },
      },
      MERGE,
    );

    expect(moved.code).toBe(200);
    expect(messages(changed)).toEqual(["spec.ports[1]: Invalid value: the number is fixed"]);
  });

  test("with an optional old value also runs at creation", async () => {
    await using api = await withWidgets(REPLICAS, {
      rule: "oldSelf.hasValue() ? self.replicas >= oldSelf.value().replicas : self.replicas == 1",
      optionalOldSelf: true,
      message: "starts with one",
    });

    const refused = await api.send("POST", WIDGETS, widget({ replicas: 2 }));
    const accepted = await api.send("POST", WIDGETS, widget({ replicas: 1 }));

    expect(messages(refused)).toEqual(["spec: Invalid value: starts with one"]);
    expect(accepted.code).toBe(201);
  });
});

test("a value that was there before a rule, and did not change, stays accepted with a warning", async () => {
  await using api = await withWidgets(REPLICAS);
  await api.send("POST", WIDGETS, widget({ replicas: 9, max: 1 }));
  const stricter = definition(REPLICAS, { rule: "self.replicas <= self.max", message: "too many" });
  const { metadata: _, ...rest } = stricter as { metadata: object };
  const changed = await api.send("PATCH", `${DEFINITIONS}/widgets.example.com`, rest, MERGE);

  const labelled = await api.send("PATCH", `${WIDGETS}/a`, { metadata: { labels: { a: "b" } } }, MERGE);
  const touched = await api.send("PATCH", `${WIDGETS}/a`, { spec: { replicas: 8 } }, MERGE);

  expect(changed.code).toBe(200);
  expect([labelled.code, labelled.headers.get("warning")]).toEqual([
    200,
    '299 - "spec: Invalid value: too many"',
  ]);
  expect(messages(touched)).toEqual(["spec: Invalid value: too many"]);
});

describe("a definition is refused for a rule", () => {
  const PLACE = "spec.validation.openAPIV3Schema.properties[spec]";

  test.each([
    [
      "self.missing == 1",
      "compilation failed: ERROR: <input>:1:5: undefined field 'missing'\n | self.missing == 1\n | ....^",
    ],
    [
      "other == 1",
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other == 1\n | ^",
    ],
    [
      "self.replicas == 'a'",
      "compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(int, string)'\n | self.replicas == 'a'\n | ..............^",
    ],
    ["self.replicas + 1", "cel expression must evaluate to a bool"],
  ])("%s", async (rule, detail) => {
    const { api, reply } = await define(definition(REPLICAS, { rule }));
    await using _ = api;

    expect(reply.code).toBe(422);
    const [message = ""] = messages(reply);
    expect(message.startsWith(`${PLACE}.x-kubernetes-validations[0].rule: Invalid value: `)).toBe(true);
    expect(message.endsWith(detail)).toBe(true);
  });

  test("that looks back where items cannot be told apart", async () => {
    const numbers = { type: "array", items: { type: "integer", ...rules({ rule: "self > oldSelf" }) } };
    const { api, reply } = await define(definition({ numbers }));
    await using _ = api;

    expect(messages(reply)).toEqual([
      `${PLACE}.properties[numbers].items.x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${PLACE}.properties[numbers]`,
    ]);
  });

  test("that names a field which is not there, or whose message is no text", async () => {
    const { api, reply } = await define(
      definition(REPLICAS, { rule: "true", fieldPath: ".missing" }, { rule: "true", messageExpression: "1" }),
    );
    await using _ = api;

    expect(messages(reply).map((message) => message.replace(/\{.*\}/, "{}"))).toEqual([
      `${PLACE}.x-kubernetes-validations[0].fieldPath: Invalid value: ".missing": must be a valid path`,
      `${PLACE}.x-kubernetes-validations[1].messageExpression: Invalid value: {}: messageExpression must evaluate to a string`,
    ]);
  });

  test("that its own default breaks", async () => {
    const replicas = {
      type: "integer",
      default: 0,
      ...rules({ rule: "self > 0", message: "must be positive" }),
    };
    const { api, reply } = await define(definition({ replicas }));
    await using _ = api;

    expect(messages(reply)).toEqual([
      `${PLACE}.properties[replicas].default: Invalid value: 0: must be positive`,
    ]);
  });

  test("whose default lacks what it must have, without a word of rules that were not looked at", async () => {
    const size = {
      type: "object",
      default: {},
      required: ["width"],
      properties: { width: { type: "integer", default: 1 } },
      ...rules({ rule: "self.width > 0" }),
    };
    const { api, reply } = await define(definition({ size }));
    await using _ = api;

    expect(messages(reply)).toEqual([`${PLACE}.properties[size].default.width: Required value`]);
  });
});

const MERGE = { type: "application/merge-patch+json" };
