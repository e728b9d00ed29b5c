import { describe, expect, test } from "vitest";
import { type ApiError, isApiError } from "../errors/api-error.ts";
import type { JsonObject } from "../json/json-object.ts";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { toNormalForm } from "../schema/normal-form.ts";
import type { StructSchema } from "../schema/schema.ts";
import { type ApplyInput, applyPatch } from "./apply-patch.ts";
import { fieldSet } from "./fields/field-set.ts";
import { managedFieldsOf, trackUpdate } from "./managed-fields.ts";
import type { Versions, Writer } from "./writer.ts";

const VERSIONS: Versions = {
  findSchema: (apiVersion) => findKindSchema(apiVersion, "Deployment"),
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
};

function writer(manager: string, options: Partial<Writer> = {}): Writer {
  return {
    manager,
    apiVersion: "apps/v1",
    kind: "Deployment",
    subresource: "",
    now: "2026-11-15T05:00:00Z",
    versions: VERSIONS,
    resetFields: fieldSet(["f:status"]),
    ...options,
  };
}

function schema(): StructSchema {
  const found = findKindSchema("apps/v1", "Deployment");
  if (found === undefined) throw new Error("no schema");
  return found;
}

function normal(object: JsonObject): JsonObject {
  return toNormalForm(schema(), object).value;
}

function config(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", ...metadata }, spec };
}

function template(...containers: readonly JsonObject[]): JsonObject {
  return { template: { spec: { containers } } };
}

function apply(
  live: JsonObject | undefined,
  input: JsonObject,
  options: Partial<Writer & Pick<ApplyInput, "onConflict">> = {},
): JsonObject {
  const { onConflict = "fail", ...rest } = options;
  const as = writer(rest.manager ?? "one", rest);
  return applyPatch({ live, config: input, writer: as, onConflict, finish: normal }).object;
}

function refusal(...args: Parameters<typeof apply>): ApiError {
  try {
    apply(...args);
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
  throw new Error("it was applied");
}

function update(live: JsonObject | undefined, next: JsonObject, manager = "updater"): JsonObject {
  return trackUpdate({ live, next: normal(next), writer: writer(manager) });
}

function spec(object: JsonObject): JsonObject {
  return object.spec as JsonObject;
}

function podSpec(object: JsonObject): JsonObject {
  return (spec(object).template as JsonObject).spec as JsonObject;
}

function owners(object: JsonObject): Readonly<Record<string, unknown>> {
  const entries = (managedFieldsOf(object) ?? []) as readonly JsonObject[];
  return Object.fromEntries(entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1])) as JsonObject;
}

const WEB = { name: "web", image: "web:1" };

describe("an apply that creates", () => {
  test("makes the object, and the applier owns the fields it stated", () => {
    const object = apply(undefined, config({ replicas: 3, ...template(WEB) }, { labels: { app: "web" } }));

    expect(spec(object).replicas).toBe(3);
    expect(managedFieldsOf(object)).toEqual([
      {
        apiVersion: "apps/v1",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": {
            "f:replicas": {},
            "f:template": {
              "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:name": {} } } },
            },
          },
        },
        manager: "one",
        operation: "Apply",
        time: "2026-11-15T05:00:00Z",
      },
    ]);
  });
});

describe("a repeated apply", () => {
  test("changes nothing: the live object itself is returned", () => {
    const input = config({ replicas: 3, ...template({ ...WEB, resources: { limits: { cpu: "0.5" } } }) });
    const live = apply(undefined, input);

    const result = applyPatch({
      live,
      config: input,
      writer: writer("one", { now: "2027-01-01T00:00:00Z" }),
      onConflict: "fail",
      finish: normal,
    });

    expect(podSpec(live)).toMatchObject({ containers: [{ resources: { limits: { cpu: "500m" } } }] });
    expect(result.isChanged).toBe(false);
    expect(result.object).toBe(live);
  });

  test.each([
    { annotations: {}, labels: {} },
    { annotations: null, labels: null },
  ])("states empty maps of %j, owns them, and changes nothing when it states them again", (metadata) => {
    const stored = apply(undefined, config({ replicas: 3 }, metadata));
    const again = apply(stored, config({ replicas: 3 }, metadata), { now: "2026-11-15T06:00:00Z" });

    expect(owners(stored).one).toEqual({
      "f:metadata": { "f:annotations": {}, "f:labels": {} },
      "f:spec": { "f:replicas": {} },
    });
    expect(again).toBe(stored);
  });

  test("that states a map as null removes no fields of other managers", () => {
    const live = apply(undefined, config({}, { labels: { app: "web" } }), { manager: "two" });

    const object = apply(live, config({}, { labels: null }));

    expect(object.metadata).toMatchObject({ labels: { app: "web" } });
    expect(owners(object)).toMatchObject({
      one: { "f:metadata": { "f:labels": {} } },
      two: { "f:metadata": { "f:labels": { "f:app": {} } } },
    });
  });

  test("that states nothing does not change an object without managed fields", () => {
    const bare = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };
    const stored = normal({ ...bare, spec: { replicas: 3 } });

    expect(apply(stored, bare)).toBe(stored);
  });

  test("with a null creationTimestamp and an empty status changes nothing", () => {
    const live = { ...apply(undefined, config({ replicas: 3 })) };
    const stored = {
      ...live,
      metadata: { ...(live.metadata as JsonObject), creationTimestamp: "2026-11-15T05:00:00Z" },
    };

    const again = apply(stored, { ...config({ replicas: 3 }, { creationTimestamp: null }), status: {} });

    expect(again).toBe(stored);
  });

  test("with another value updates the time and keeps the other fields of the entry", () => {
    const live = apply(undefined, config({ replicas: 3, paused: true }));

    const object = apply(live, config({ replicas: 4, paused: true }), { now: "2026-11-15T06:00:00Z" });

    expect(managedFieldsOf(object)).toMatchObject([{ time: "2026-11-15T06:00:00Z" }]);
    expect(owners(object)).toEqual(owners(live));
  });

  test("that only states existing values keeps the time of its entry, or has none", () => {
    const live = apply(undefined, config({ replicas: 3, paused: true }));

    const joined = apply(live, config({ replicas: 3 }), { manager: "two", now: "2026-11-15T06:00:00Z" });
    const more = apply(joined, config({ replicas: 3 }), { now: "2026-11-15T07:00:00Z", manager: "one" });
    const same = apply(joined, config({ replicas: 3, paused: true }), { manager: "two" });

    const times = (object: JsonObject): readonly unknown[] =>
      (managedFieldsOf(object) as readonly JsonObject[]).map(({ manager, time }) => [manager, time]);
    expect(times(joined)).toEqual([
      ["two", undefined],
      ["one", "2026-11-15T05:00:00Z"],
    ]);
    expect(times(same)).toEqual(times(joined));
    expect(times(more)).toEqual([
      ["two", undefined],
      ["one", "2026-11-15T07:00:00Z"],
    ]);
  });

  test("that gives up a struct's fields removes the struct when only empty lists remain", () => {
    const live = apply(undefined, config({ replicas: 3 }));
    const empty = { template: { spec: { containers: [] } } };

    const { object } = applyPatch({ live, config: config(empty), writer: writer("one"), onConflict: "fail" });

    expect(object).not.toHaveProperty("spec");
  });
});

describe("conflicts", () => {
  test("a field that an updater owns with another value is a conflict", () => {
    const live = update(undefined, config({ replicas: 3 }), "kubectl-client-side-apply");

    expect(refusal(live, config({ replicas: 4 }))).toMatchObject({
      reason: "Conflict",
      code: 409,
      message:
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
      details: {
        causes: [
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "kubectl-client-side-apply" using apps/v1',
            field: ".spec.replicas",
          },
        ],
      },
    });
  });

  test("several conflicts are listed below their managers, in order", () => {
    const created = apply(undefined, config({ replicas: 3, ...template(WEB) }), { manager: "b" });
    const live = trackUpdate({
      live: created,
      next: normal({ ...created, spec: { ...spec(created), replicas: 5, paused: true } }),
      writer: writer("a", { subresource: "scale" }),
    });

    const error = refusal(
      live,
      config({ replicas: 9, paused: false, ...template({ ...WEB, image: "web:2" }) }),
    );

    expect(error.message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "a" with subresource "scale" using apps/v1:',
        "- .spec.paused",
        "- .spec.replicas",
        'conflicts with "b":',
        '- .spec.template.spec.containers[name="web"].image',
      ].join("\n"),
    );
    expect(error.details?.causes).toHaveLength(3);
  });

  test("force takes the fields over", () => {
    const live = update(undefined, config({ replicas: 3, paused: true }));

    const object = apply(live, config({ replicas: 4 }), { onConflict: "force" });

    expect(spec(object).replicas).toBe(4);
    expect(owners(object)).toEqual({
      one: { "f:spec": { "f:replicas": {} } },
      updater: { "f:spec": { "f:paused": {} } },
    });
  });

  test("managers that state the same value share the field", () => {
    const first = apply(undefined, config({ replicas: 3 }));

    const both = apply(first, config({ replicas: 3 }), { manager: "two", now: "2026-11-15T06:00:00Z" });

    expect(owners(both)).toEqual({
      one: { "f:spec": { "f:replicas": {} } },
      two: { "f:spec": { "f:replicas": {} } },
    });
    expect(refusal(both, config({ replicas: 4 })).message).toBe(
      'Apply failed with 1 conflict: conflict with "two": .spec.replicas',
    );
  });

  test("an atomic value conflicts as a whole", () => {
    const tolerations = (key: string): JsonObject => ({ template: { spec: { tolerations: [{ key }] } } });
    const live = apply(undefined, config(tolerations("a")));

    expect(refusal(live, config(tolerations("b")), { manager: "two" }).message).toBe(
      'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.tolerations',
    );
  });

  test("a field that the endpoint resets is neither owned nor in conflict", () => {
    const live = apply(undefined, config({ replicas: 3 }));
    const withStatus = trackUpdate({
      live,
      next: { ...live, status: { replicas: 3 } },
      writer: writer("controller", {
        subresource: "status",
        resetFields: fieldSet(["f:spec"], ["f:metadata"]),
      }),
    });

    const { object } = applyPatch({
      live: withStatus,
      config: { ...config({ replicas: 3 }), status: { replicas: 7 } },
      writer: writer("one"),
      onConflict: "fail",
      finish: (merged) => normal({ ...merged, status: withStatus.status }),
    });

    expect(object).toBe(withStatus);
  });
});

describe("giving up", () => {
  const labels = { a: "1", b: "2" };

  test("a field without another owner is removed", () => {
    const live = apply(undefined, config({ replicas: 3, paused: true, ...template(WEB) }, { labels }));

    const object = apply(live, config({ replicas: 3, ...template(WEB) }, { labels: { a: "1" } }));

    expect(spec(object)).not.toHaveProperty("paused");
    expect((object.metadata as JsonObject).labels).toEqual({ a: "1" });
    expect(owners(object).one).not.toMatchObject({ "f:spec": { "f:paused": {} } });
  });

  test("a field that another applier or an updater owns stays", () => {
    const first = apply(undefined, config({ replicas: 3, paused: true }, { labels }));
    const shared = apply(first, config({ paused: true }), { manager: "two" });
    const live = update(shared, {
      ...shared,
      metadata: { ...(shared.metadata as JsonObject), labels: { ...labels, c: "3" } },
    });

    const object = apply(live, config({ replicas: 3 }));

    expect(spec(object).paused).toBe(true);
    expect((object.metadata as JsonObject).labels).toEqual({ c: "3" });
    expect(owners(object)).toMatchObject({
      one: { "f:spec": { "f:replicas": {} } },
      two: { "f:spec": { "f:paused": {} } },
    });
  });

  test("items of lists are removed, nested ones too", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }, { containerPort: 443 }];
    const env = [
      { name: "A", value: "1" },
      { name: "B", value: "2" },
    ];
    const live = apply(undefined, config(template({ ...WEB, ports, env }, { name: "log", image: "log:1" })));

    const object = apply(live, config(template({ ...WEB, ports: ports.slice(0, 2), env: env.slice(1) })));

    expect(podSpec(object).containers).toEqual([
      {
        env: [{ name: "B", value: "2" }],
        image: "web:1",
        name: "web",
        ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }],
        resources: {},
      },
    ]);
  });

  test("an item keeps the fields that other managers own", () => {
    const first = apply(undefined, config(template(WEB, { name: "log", image: "log:1" })));
    const live = apply(first, config(template({ name: "log", tty: true })), { manager: "two" });

    const object = apply(live, config(template(WEB)));

    expect(podSpec(object).containers).toMatchObject([WEB, { name: "log", tty: true }]);
    expect((podSpec(object).containers as readonly JsonObject[])[1]).not.toHaveProperty("image");
  });

  test("values of a set are removed", () => {
    const first = apply(undefined, config({}, { finalizers: ["x/a", "x/b"] }));
    const live = apply(first, config({}, { finalizers: ["x/c"] }), { manager: "two" });

    const object = apply(live, config({}, { finalizers: ["x/b"] }));

    expect((object.metadata as JsonObject).finalizers).toEqual(["x/b", "x/c"]);
  });

  test("an applier that gives up all fields loses its entry, and the object stays", () => {
    const live = apply(undefined, config({ replicas: 3 }, { labels }));
    const shared = apply(live, config({ paused: true }), { manager: "two" });

    const { spec: _, ...nothing } = config();

    const object = apply(shared, nothing);

    expect(Object.keys(owners(object))).toEqual(["two"]);
    expect(spec(object)).not.toHaveProperty("replicas");
  });
});

describe("an object without entries", () => {
  const bare = (): JsonObject => normal(config({ replicas: 3, paused: true }));

  test("is first recorded as before-first-apply", () => {
    const object = apply(bare(), config({ paused: true }));

    expect(owners(object)).toEqual({
      one: { "f:spec": { "f:paused": {} } },
      "before-first-apply": { "f:spec": { "f:paused": {}, "f:replicas": {} } },
    });
  });

  test("has conflicts with before-first-apply", () => {
    expect(refusal(bare(), config({ replicas: 4 })).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas',
    );
  });
});

describe("several versions", () => {
  /** A second version that calls replicas `count`; only the conversion maps the two. */
  const beta = "apps/v1beta9";
  const versions: Versions = {
    findSchema: (apiVersion) => (apiVersion === "gone/v1" ? undefined : schema()),
    convert: (object, apiVersion) => {
      const { replicas, minReadySeconds, ...rest } = (object.spec ?? {}) as JsonObject;
      const swapped = {
        ...rest,
        ...(replicas === undefined ? {} : { minReadySeconds: replicas }),
        ...(minReadySeconds === undefined ? {} : { replicas: minReadySeconds }),
      };
      return { ...object, apiVersion, spec: swapped };
    },
  };

  test("conflicts are seen, and reported, in the owner's version", () => {
    const other = { ...config({ minReadySeconds: 5 }), apiVersion: beta };
    const first = apply(undefined, other, { manager: "two", apiVersion: beta, versions });
    const live = { ...versions.convert(first, "apps/v1") };

    const error = refusal(live, config({ replicas: 6 }), { versions });

    expect(error.message).toBe('Apply failed with 1 conflict: conflict with "two": .spec.minReadySeconds');
  });

  test("a field applied in one version is given up in another", () => {
    const other = { ...config({ minReadySeconds: 5, paused: true }), apiVersion: beta };
    const first = apply(undefined, other, { apiVersion: beta, versions });

    const object = apply(versions.convert(first, "apps/v1"), config({ paused: true }), { versions });

    expect(spec(object)).toMatchObject({ paused: true });
    expect(spec(object)).not.toHaveProperty("replicas");
    expect(managedFieldsOf(object)).toMatchObject([{ apiVersion: "apps/v1", manager: "one" }]);
  });
});

describe("refusals", () => {
  test.each([
    [config({}, { managedFields: [] }), {}, "metadata.managedFields must be nil"],
    [{ ...config(), apiVersion: "v1", kind: "Pod" }, {}, "invalid object type: /v1, Kind=Pod"],
    [{}, {}, "invalid object type: /, Kind="],
    [
      config({ foo: 1 }, { namespace: "default" }),
      {},
      "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema",
    ],
  ])("%j %j", (input, options, message) => {
    expect(refusal(undefined, input, options).message).toBe(message);
  });
});
