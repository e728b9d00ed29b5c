/** Requests that custom resources answer differently from built-in kinds. */
import { describe, expect, test } from "vitest";
import { hasCondition, TestApi, until, watchEvents } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/example.com/v1/namespaces/default/things";
const merge = { type: "application/merge-patch+json" };

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        small: { type: "integer", format: "int32" },
        color: { type: "string" },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  },
};

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
      },
    ],
  },
};

function thing(spec: object = {}, metadata: object = {}): object {
  return { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a", ...metadata }, spec };
}

async function withThings(): Promise<TestApi> {
  const api = await TestApi.start();
  await api.send("POST", DEFINITIONS, definition);
  await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));
  return api;
}

describe("a scale of a custom resource that says nothing of its copies", () => {
  test("is not shown", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());

    const { code, body } = await api.send("GET", `${THINGS}/a/scale`);

    expect([code, body["message"]]).toEqual([
      500,
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    ]);
  });

  test("is set by a patch and by an update", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());
    await api.send("POST", THINGS, thing({}, { name: "b" }));
    const scale = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "b" },
      spec: { replicas: 2 },
    };

    const patched = await api.send("PATCH", `${THINGS}/a/scale`, { spec: { replicas: 3 } }, merge);
    const updated = await api.send("PUT", `${THINGS}/b/scale`, scale);

    expect([patched.code, patched.body["spec"]]).toEqual([200, { replicas: 3 }]);
    expect([updated.code, updated.body["spec"]]).toEqual([200, { replicas: 2 }]);
  });

  test("is not set by a patch that says nothing of them either", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());

    const { code, body } = await api.send("PATCH", `${THINGS}/a/scale`, {}, merge);

    expect([code, body["message"]]).toEqual([
      400,
      'the spec replicas field ".spec.replicas" cannot be empty',
    ]);
  });
});

describe("a scale of a custom resource", () => {
  test("is refused in the name of the resource when it is negative", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing({ replicas: 1 }));

    const { code, body } = await api.send("PATCH", `${THINGS}/a/scale`, { spec: { replicas: -3 } }, merge);

    expect([code, body["message"]]).toEqual([
      422,
      'Thing.example.com "a" is invalid: .spec.replicas: Invalid value: -3: should be a non-negative integer',
    ]);
  });

  test.each([
    [
      { spec: 5 },
      ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 5 is of the type int64, expected map[string]interface{}",
    ],
    [
      { spec: { replicas: "3" } },
      ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 3 is of the type string, expected int64",
    ],
    [
      { spec: { replicas: null } },
      ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: <nil> is of the type <nil>, expected int64",
    ],
    [
      { spec: { replicas: { a: [1] } } },
      ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: map[a:[1]] is of the type map[string]interface {}, expected int64",
    ],
  ])("has a number at its path, not %j", async (part, mistake) => {
    await using api = await TestApi.start();
    const [version] = definition.spec.versions;
    const free = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const spec = { ...definition.spec, versions: [{ ...version, schema: free }] };
    await api.send("POST", DEFINITIONS, { ...definition, spec });
    await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));

    const { code, body } = await api.send("POST", THINGS, { ...thing(), ...part });

    expect([code, body["message"]]).toEqual([422, `Thing.example.com "a" is invalid: ${mistake}`]);
  });
});

describe("a body that is to become a custom resource", () => {
  test.each([
    [
      "does not say its kind",
      { apiVersion: "example.com/v1", metadata: { name: "a" } },
      400,
      'the object provided is unrecognized (must be of type Thing): Object \'Kind\' is missing in \'{"apiVersion":"example.com/v1","metadata":{"name":"a"}}\' ({"apiVersion":"example.com/v1" ...)',
    ],
    [
      "does not say its version",
      { kind: "Thing", metadata: { name: "a" } },
      400,
      "the API version in the data () does not match the expected API version (example.com/v1)",
    ],
    [
      "is of another kind",
      { apiVersion: "example.com/v1", kind: "Other", metadata: { name: "a" } },
      422,
      'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing',
    ],
  ])("is refused when it %s", async (_, sent, expected, message) => {
    await using api = await withThings();

    const { code, body } = await api.send("POST", THINGS, sent);

    expect([code, body["message"]]).toEqual([expected, message]);
  });

  test("cannot be made another kind by a patch", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());

    const { code, body } = await api.send("PATCH", `${THINGS}/a`, { kind: "Other" }, merge);

    expect([code, body["message"]]).toEqual([
      422,
      'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing',
    ]);
  });
});

describe("finalizers of a custom resource", () => {
  test("that others may use too are warned of when they are new", async () => {
    await using api = await withThings();

    const made = await api.send("POST", THINGS, thing({}, { finalizers: ["mine", "example.com", "a.b/c"] }));
    const kept = await api.send("PATCH", `${THINGS}/a`, { spec: { color: "red" } }, merge);

    expect(made.headers.get("warning")).toBe(
      [
        String.raw`299 - "metadata.finalizers: \"example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"`,
        String.raw`299 - "metadata.finalizers: \"mine\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"`,
      ].join(", "),
    );
    expect(kept.headers.has("warning")).toBe(false);
  });
});

describe("an owner that is named twice", () => {
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u1" };
  const text = ".metadata.ownerReferences contains duplicate entries";

  test.each([
    ["sent", `${text};`],
    ["patched in", `${text} after mutating admission happens;`],
  ])("counts once, and is warned of, when it is %s", async (how, warning) => {
    await using api = await withThings();
    const metadata = { ownerReferences: [owner, owner] };
    if (how === "patched in") await api.send("POST", THINGS, thing());

    const { body, headers } =
      how === "sent"
        ? await api.send("POST", THINGS, thing({}, metadata))
        : await api.send("PATCH", `${THINGS}/a`, { metadata }, merge);

    expect(body["metadata"]?.["ownerReferences"]).toEqual([owner]);
    expect(headers.get("warning")).toContain(warning);
    expect(headers.get("warning")).toContain("duplicate UID(s) observed: u1");
  });
});

describe("a version that is deprecated", () => {
  test("is warned of with the best of those that stay and are better", async () => {
    await using api = await TestApi.start();
    const [version] = definition.spec.versions;
    const versions = [
      { ...version, name: "v1alpha1", storage: false, deprecated: true },
      version,
      { ...version, name: "v2beta1", storage: false },
      { ...version, name: "v3", storage: false, deprecated: true },
    ];
    await api.send("POST", DEFINITIONS, { ...definition, spec: { ...definition.spec, versions } });
    await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));

    const older = await api.send("GET", "/apis/example.com/v1alpha1/things");
    const newest = await api.send("GET", "/apis/example.com/v3/things");

    expect(older.headers.get("warning")).toBe(
      '299 - "example.com/v1alpha1 Thing is deprecated; use example.com/v1 Thing"',
    );
    expect(newest.headers.get("warning")).toBe('299 - "example.com/v3 Thing is deprecated"');
  });
});

describe("a path of the API that leads nowhere", () => {
  test.each([
    ["in a group that nobody serves", "/apis/nobody.example.com/v1/things"],
    ["in a group of users", "/apis/example.com/v1/nothings"],
    ["in a version that a definition has not", "/apis/example.com/v2/namespaces/default/things"],
    ["without the namespace of an object", "/apis/example.com/v1/things/a"],
  ])("%s is answered with a page", async (_, path) => {
    await using api = await withThings();

    const { code, headers, bytes } = await api.send("GET", path);

    expect([code, headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(String(bytes)).toBe("404 page not found\n");
  });

  test.each([
    "/apis/apps/v2",
    "/apis/apps/v2/deployments",
    "/apis/apps/v1/things",
    "/api/v2",
    "/api/v1/things",
  ])("below a built-in group is answered with a Status: %s", async (path) => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("GET", path);

    expect(code).toBe(404);
    expect(body).toMatchObject({
      kind: "Status",
      message: "the server could not find the requested resource",
    });
  });
});

describe("what a custom resource does not offer", () => {
  test("is told with its name where it is a subresource", async () => {
    await using api = await withThings();

    const { code, body } = await api.send("GET", `${THINGS}/a/logs`);

    expect([code, body["message"]]).toEqual([404, 'things.example.com "a" not found']);
    expect(body["details"]).toEqual({ name: "a", group: "example.com", kind: "things" });
  });

  test.each([
    ["POST", "create"],
    ["DELETE", "delete"],
  ])("is told with the verb where it is %s of a subresource", async (method, verb) => {
    await using api = await withThings();

    const { code, body } = await api.send(method, `${THINGS}/a/status`, {});

    expect([code, body["message"]]).toEqual([
      405,
      `${verb} is not supported on resources of kind "things.example.com"`,
    ]);
  });

  test("is told without a verb where the method has none", async () => {
    await using api = await withThings();

    const { code, body } = await api.send("OPTIONS", THINGS);

    expect([code, body["message"]]).toEqual([
      405,
      ' is not supported on resources of kind "things.example.com"',
    ]);
  });
});

test.each([
  ["..", "may not be '..'"],
  ["a%25b", "may not contain '%'"],
])("an object cannot be asked for by the name %s", async (name, why) => {
  await using api = await TestApi.start();

  const { code, body } = await api.send("GET", `/api/v1/namespaces/default/configmaps/${name}`);

  expect(code).toBe(400);
  expect(body["message"]).toBe(`Name parameter invalid: "${decodeURIComponent(name)}": ${why}`);
});

test.each(["", "0", null])("a patch that sets the resourceVersion %j is refused", async (resourceVersion) => {
  await using api = await withThings();
  await api.send("POST", THINGS, thing());

  const { code, body } = await api.send("PATCH", `${THINGS}/a`, { metadata: { resourceVersion } }, merge);

  expect(code).toBe(422);
  expect(body["message"]).toBe(
    'things.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

describe("a custom resource that says it is something else", () => {
  test("is refused where a patch makes it of another version", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());

    const { code, body } = await api.send("PATCH", `${THINGS}/a`, { apiVersion: "example.com/v2" }, merge);

    expect([code, body["message"]]).toEqual([
      422,
      'Thing.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v2": must be example.com/v1',
    ]);
  });

  test("may have its status written nevertheless", async () => {
    await using api = await withThings();
    const { body } = await api.send("POST", THINGS, thing());

    const sent = { ...body, kind: "Other", status: { phase: "Done" } };
    const written = await api.send("PUT", `${THINGS}/a/status`, sent);

    expect(written.code).toBe(200);
    expect(written.body).toMatchObject({ kind: "Thing", status: { phase: "Done" } });
  });
});

describe("a list of custom resources", () => {
  test("says that nothing follows, unlike tables and metadata of the same", async () => {
    await using api = await withThings();

    const whole = await api.send("GET", THINGS);
    const table = await api.send("GET", THINGS, undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    const metadata = await api.send("GET", THINGS, undefined, {
      accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    });

    expect(whole.body["metadata"]).toHaveProperty("continue", "");
    expect(table.body["metadata"]).not.toHaveProperty("continue");
    expect(metadata.body["metadata"]).not.toHaveProperty("continue");
  });

  test("ends a page that is not the last with where to go on", async () => {
    await using api = await withThings();
    await api.send("POST", THINGS, thing());
    await api.send("POST", THINGS, thing({}, { name: "b" }));

    const { body } = await api.send("GET", `${THINGS}?limit=1`);

    expect(body["metadata"]?.["continue"]).toMatch(/^.{20}/);
  });
});

test.each([
  ["GET", "nope", 404],
  ["DELETE", "status", 405],
])("%s of a %s that custom resources have not is told in any form", async (method, subresource, expected) => {
  await using api = await withThings();

  const { code } = await api.send(method, `${THINGS}/a/${subresource}`, undefined, { accept: "text/html" });

  expect(code).toBe(expected);
});

test("a scale that says no name is told which it should be", async () => {
  await using api = await withThings();
  await api.send("POST", THINGS, thing({ replicas: 1 }));

  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", spec: { replicas: 3 } };
  const { code, body } = await api.send("PUT", `${THINGS}/a/scale`, scale);

  expect([code, body["message"]]).toEqual([
    400,
    "the name of the object (a based on URL) was undeterminable: name must be provided",
  ]);
});

test("a bookmark in a table of custom resources has nothing in its cells", async () => {
  await using api = await withThings();
  const ending = new AbortController();
  const options = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  const response = await api.raw("GET", `${THINGS}?watch=1&${options}`, undefined, {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    signal: ending.signal,
  });

  for await (const { type, object } of watchEvents(response)) {
    expect([type, object["rows"]]).toMatchObject(["BOOKMARK", [{ cells: ["", null] }]]);
    ending.abort();
  }
});

test.each([
  [
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf",
  ],
  ["application/vnd.kubernetes.protobuf,application/json", "application/json"],
])("that an object is gone is told to %s as %s", async (accept, type) => {
  await using api = await withThings();
  await api.send("POST", THINGS, thing());

  const { code, headers } = await api.send("DELETE", `${THINGS}/a`, undefined, { accept });

  expect([code, headers.get("content-type")]).toEqual([200, type]);
});

test.each(["metadata.namespace", "spec.color"])(
  "custom resources without a namespace cannot be selected by %s",
  async (field) => {
    await using api = await TestApi.start();
    const { spec } = definition;
    await api.send("POST", DEFINITIONS, { ...definition, spec: { ...spec, scope: "Cluster" } });
    await until(api, `${DEFINITIONS}/things.example.com`, hasCondition("Established"));

    const { code, body } = await api.send("GET", `/apis/example.com/v1/things?fieldSelector=${field}=x`);

    expect([code, body["message"]]).toEqual([400, `field label not supported: ${field}`]);
  },
);

describe("an apply without a name in its body", () => {
  const apply = { type: "application/apply-patch+yaml" };
  const refusal = [
    400,
    "the name of the object (a based on URL) was undeterminable: name must be provided",
  ] as const;
  const configMap = { apiVersion: "v1", kind: "ConfigMap", data: { key: "new" } };
  const { metadata: _, ...nameless } = thing({ color: "new" }) as { metadata: object };

  test.each([
    ["a built-in kind", "/api/v1/namespaces/default/configmaps", configMap],
    ["a custom kind", THINGS, nameless],
  ])("changes an object of %s and makes none", async (_kind, path, config) => {
    await using api = await withThings();
    const send = () => api.send("PATCH", `${path}/a?fieldManager=m`, config, apply);

    const refused = await send();
    expect([refused.code, refused.body["message"]]).toEqual(refusal);
    expect((await api.send("GET", `${path}/a`)).code).toBe(404);

    const { apiVersion, kind } = config as { apiVersion?: string; kind?: string };
    await api.send("POST", path, { apiVersion, kind, metadata: { name: "a" } });
    const changed = await send();
    expect([changed.code, changed.body]).toMatchObject([200, config]);
  });

  test("changes nothing where the name is null", async () => {
    await using api = await withThings();
    const maps = "/api/v1/namespaces/default/configmaps";
    await api.send("POST", maps, { metadata: { name: "a" } });

    const config = { ...configMap, metadata: { name: null } };
    const { code, body } = await api.send("PATCH", `${maps}/a?fieldManager=m`, config, apply);

    expect([code, body["message"]]).toEqual(refusal);
  });

  test("or another name does not hide that there is no object with a status", async () => {
    await using api = await withThings();

    for (const config of [nameless, thing({}, { name: "b" })])
      expect((await api.send("PATCH", `${THINGS}/a/status?fieldManager=m`, config, apply)).code).toBe(404);
  });
});
