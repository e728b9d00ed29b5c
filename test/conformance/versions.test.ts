/** Versions of one resource are one object: a write in one version shows in the others. */
import { describe, expect, test } from "vitest";
import { conversions } from "../../src/resources/index.ts";
import { Versions } from "../../src/server/objects/versions.ts";
import type { HttpResponse } from "../../src/server/request/http.ts";
import { TestApi, watchEvents, listOf } from "../api-harness.ts";
import type { ReplyBody } from "../api-harness.ts";

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";

function startAll(): Promise<TestApi> {
  return TestApi.start(["default"], { isServed: () => true });
}

interface Form {
  readonly apiVersion: string;
  /** Members except type and metadata. */
  readonly content: Readonly<Record<string, unknown>>;
}

interface Case {
  readonly kind: string;
  /** Path below the group version. */
  readonly path: string;
  readonly name: string;
  /** The same object in each version. */
  readonly forms: readonly Form[];
}

const DEVICE = { deviceClassName: "gpu.example.com", allocationMode: "ExactCount", count: 2 };
const CHOICE = [{ name: "big", deviceClassName: "a", allocationMode: "All" }];

function claimDevices(version: "v1" | "v1beta1"): Record<string, unknown> {
  const first = version === "v1" ? { name: "one", exactly: DEVICE } : { name: "one", ...DEVICE };
  const second = { name: "other", firstAvailable: CHOICE };
  return { requests: [first, version === "v1" ? second : { ...second, deviceClassName: "" }] };
}

function slice(devices: unknown): Record<string, unknown> {
  const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
  return { spec: { driver: "d.example", nodeName: "n", pool, devices } };
}

const PARTS = { attributes: { model: { string: "x" } }, capacity: { memory: { value: "1Gi" } } };

const POLICY = {
  failurePolicy: "Fail",
  reinvocationPolicy: "Never",
  matchConstraints: {
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    resourceRules: [
      { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" },
    ],
  },
  mutations: [
    { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/data'}]" } },
  ],
};

function alike(group: string, versions: readonly string[], content: Form["content"]): readonly Form[] {
  return versions.map((version) => ({ apiVersion: `${group}/${version}`, content }));
}

function deviceForms(make: (version: "v1" | "v1beta1") => Form["content"]): readonly Form[] {
  return [
    { apiVersion: "resource.k8s.io/v1", content: make("v1") },
    { apiVersion: "resource.k8s.io/v1beta1", content: make("v1beta1") },
    { apiVersion: "resource.k8s.io/v1beta2", content: make("v1") },
  ];
}

/** A CA that signs nothing. */
const TRUST_ANCHOR = [
  "-----BEGIN CERTIFICATE-----",
  "MIIBcjCCARegAwIBAgIUDWpEeRgL56NJKhW+KauasGu8X1swCgYIKoZIzj0EAwIw",
  "DTELMAkGA1UEAwwCaXQwIBcNMjYxMTE2MDgzMjE2WhgPMjEyNjEwMjMwODMyMTZa",
  "MA0xCzAJBgNVBAMMAml0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE851CZ0Tb",
  "rWblSqyPkyd7q+tRAlJbPY4ESkK+gPn0S9XP5dJdgwX6/mHHDcITcM5IWTQK7wWk",
  "aYwUmtD2MyQgbqNTMFEwHQYDVR0OBBYEFEdHsGId2kZqtHJ5GTSBHbPlbA4SMB8G",
  "A1UdIwQYMBaAFEdHsGId2kZqtHJ5GTSBHbPlbA4SMA8GA1UdEwEB/wQFMAMBAf8w",
  "CgYIKoZIzj0EAwIDSQAwRgIhAN9a2As9ENjnYHlUfvgd4MXeeG53p8Rf88SaWaOs",
  "FDsdAiEA2c0cTuEqhiB6tNKVcmP+wQgRESBDsUcp28n0SbsBse8=",
  "-----END CERTIFICATE-----",
  "",
].join("\n");
const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const BOUNDS = { scaleTargetRef: TARGET, minReplicas: 1, maxReplicas: 3 };
const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};

const CASES: readonly Case[] = [
  {
    kind: "HorizontalPodAutoscaler",
    path: "namespaces/default/horizontalpodautoscalers",
    name: "a",
    forms: [
      { apiVersion: "autoscaling/v2", content: { spec: { ...BOUNDS, metrics: [CPU] } } },
      { apiVersion: "autoscaling/v1", content: { spec: { ...BOUNDS, targetCPUUtilizationPercentage: 50 } } },
    ],
  },
  {
    kind: "ResourceClaim",
    path: "namespaces/default/resourceclaims",
    name: "a",
    forms: deviceForms((version) => ({ spec: { devices: claimDevices(version) } })),
  },
  {
    kind: "ResourceClaimTemplate",
    path: "namespaces/default/resourceclaimtemplates",
    name: "a",
    forms: deviceForms((version) => ({ spec: { spec: { devices: claimDevices(version) } } })),
  },
  {
    kind: "ResourceSlice",
    path: "resourceslices",
    name: "a",
    forms: deviceForms((version) =>
      slice([version === "v1" ? { name: "x", ...PARTS } : { name: "x", basic: PARTS }]),
    ),
  },
  {
    kind: "DeviceClass",
    path: "deviceclasses",
    name: "a",
    forms: deviceForms(() => ({ spec: { selectors: [{ cel: { expression: "true" } }] } })),
  },
  {
    kind: "DeviceTaintRule",
    path: "devicetaintrules",
    name: "a",
    forms: alike("resource.k8s.io", ["v1alpha3", "v1beta2"], {
      spec: { deviceSelector: { driver: "d" }, taint: { key: "a", effect: "NoSchedule" } },
    }),
  },
  {
    kind: "MutatingAdmissionPolicy",
    path: "mutatingadmissionpolicies",
    name: "a",
    forms: alike("admissionregistration.k8s.io", ["v1", "v1alpha1", "v1beta1"], { spec: POLICY }),
  },
  {
    kind: "MutatingAdmissionPolicyBinding",
    path: "mutatingadmissionpolicybindings",
    name: "a",
    forms: alike("admissionregistration.k8s.io", ["v1", "v1alpha1", "v1beta1"], {
      spec: { policyName: "a" },
    }),
  },
  {
    kind: "IPAddress",
    path: "ipaddresses",
    name: "10.96.0.7",
    forms: alike("networking.k8s.io", ["v1", "v1beta1"], {
      spec: { parentRef: { resource: "services", namespace: "default", name: "s" } },
    }),
  },
  {
    kind: "ServiceCIDR",
    path: "servicecidrs",
    name: "a",
    forms: alike("networking.k8s.io", ["v1", "v1beta1"], { spec: { cidrs: ["10.1.0.0/16"] } }),
  },
  {
    kind: "VolumeAttributesClass",
    path: "volumeattributesclasses",
    name: "a",
    forms: alike("storage.k8s.io", ["v1", "v1beta1"], { driverName: "d.example", parameters: { a: "1" } }),
  },
  {
    kind: "ClusterTrustBundle",
    path: "clustertrustbundles",
    name: "example.com:a:b",
    forms: alike("certificates.k8s.io", ["v1alpha1", "v1beta1"], {
      spec: { signerName: "example.com/a", trustBundle: TRUST_ANCHOR },
    }),
  },
  {
    kind: "LeaseCandidate",
    path: "namespaces/default/leasecandidates",
    name: "a",
    forms: alike("coordination.k8s.io", ["v1alpha2", "v1beta1"], {
      spec: { leaseName: "l", binaryVersion: "1.0.0", strategy: "OldestEmulationVersion" },
    }),
  },
];

/** Every pair of a version to write and a version to read. */
const PAIRS = CASES.flatMap((it) =>
  it.forms.flatMap((written) =>
    it.forms.filter((read) => read !== written).map((read) => ({ ...it, written, read })),
  ),
).map((it) => [`${it.kind} ${it.written.apiVersion} -> ${it.read.apiVersion}`, it] as const);

function urlOf({ apiVersion }: Form, path: string): string {
  return `/apis/${apiVersion}/${path}`;
}

function manifest({ kind, name }: Pick<Case, "kind" | "name">, form: Form): Record<string, unknown> {
  return { apiVersion: form.apiVersion, kind, metadata: { name }, ...form.content };
}

async function firstEvent(response: HttpResponse): Promise<unknown> {
  for await (const event of watchEvents(response)) return event;
  return undefined;
}

interface Entry {
  readonly manager: string;
  readonly apiVersion: string;
}

function entriesOf(body: ReplyBody): readonly string[] {
  const entries = listOf<Entry>(body["metadata"]?.["managedFields"]);
  return entries.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`);
}

describe.each(PAIRS)("%s", (_, { kind, path, name, written, read }) => {
  const it = { kind, name };
  const here = urlOf(written, path);
  const there = urlOf(read, path);

  test("get, list, watch and table show it in the version asked for", async () => {
    await using api = await startAll();
    const expected = { apiVersion: read.apiVersion, kind, ...read.content };

    const made = await api.send("POST", here, manifest(it, written));
    expect([made.code, made.body["message"]]).toEqual([201, undefined]);
    const got = await api.send("GET", `${there}/${name}`);
    const listed = await api.send("GET", there);
    const table = await api.send("GET", there, undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    const watch = await api.raw("GET", `${there}?watch=true&timeoutSeconds=1`);
    const event = await firstEvent(watch);

    expect(made.body).toMatchObject({ apiVersion: written.apiVersion, ...written.content });
    expect(got.body).toMatchObject(expected);
    expect(listed.body).toMatchObject({
      apiVersion: read.apiVersion,
      kind: `${kind}List`,
      items: [read.content],
    });
    expect(event).toMatchObject({ type: "ADDED", object: expected });
    expect(table.body["rows"]?.["0"]?.["cells"]?.["0"]).toBe(name);
  });

  test("reading and writing it back there changes nothing", async () => {
    await using api = await startAll();
    await api.send("POST", here, manifest(it, written));
    const before = await api.send("GET", `${here}/${name}`);

    const got = await api.send("GET", `${there}/${name}`);
    const put = await api.send("PUT", `${there}/${name}`, got.body);
    const after = await api.send("GET", `${here}/${name}`);

    expect([put.code, put.body["message"]]).toEqual([200, undefined]);
    expect(after.body).toEqual(before.body);
  });

  test("a patch there is seen here, each entry in the version it was written in", async () => {
    await using api = await startAll();
    await api.send("POST", `${here}?fieldManager=one`, manifest(it, written));

    const patch = { metadata: { labels: { a: "1" } } };
    const url = `${there}/${name}?fieldManager=two`;
    const patched = await api.send("PATCH", url, patch, { type: MERGE });
    const { body } = await api.send("GET", `${here}/${name}`);

    expect([patched.code, patched.body["message"]]).toEqual([200, undefined]);
    expect(body).toMatchObject({ metadata: { labels: { a: "1" } }, ...written.content });
    expect(entriesOf(body)).toEqual([`one ${written.apiVersion}`, `two ${read.apiVersion}`]);
  });

  test("what was applied here can be applied there, and given up", async () => {
    await using api = await startAll();
    const labelled = { ...manifest(it, written), metadata: { name, labels: { a: "1" } } };
    const query = "?fieldManager=me";
    const first = await api.send("PATCH", `${here}/${name}${query}`, labelled, { type: APPLY });

    const again = await api.send("PATCH", `${there}/${name}${query}`, manifest(it, read), { type: APPLY });
    const { body } = await api.send("GET", `${here}/${name}`);

    expect([first.code, first.body["message"]]).toEqual([201, undefined]);
    expect([again.code, again.body["message"]]).toEqual([200, undefined]);
    expect(body).toMatchObject(written.content);
    expect(body["metadata"]?.["labels"]).toBeUndefined();
    expect(entriesOf(body)).toEqual([`me ${read.apiVersion}`]);
  });

  test("there and back is the same object", () => {
    const versions = new Versions(conversions);
    const [from, to] = [written.apiVersion, read.apiVersion];
    const object = versions.between(manifest(it, written), { kind, from, to: from });

    const back = versions.between(versions.between(object, { kind, from, to }), { kind, from: to, to: from });

    expect(back).toEqual(object);
  });
});

describe("rules and selectors of a second version", () => {
  test("problems are named by the fields the rules are written for", async () => {
    await using api = await startAll();
    const requests = [{ name: "one", deviceClassName: "gpu", count: -1 }];

    const { code, body } = await api.send(
      "POST",
      "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims",
      { metadata: { name: "a" }, spec: { devices: { requests } } },
    );

    expect([code, body["details"]?.["causes"]]).toMatchObject([
      422,
      [{ field: "spec.devices.requests[0].exactly.count" }],
    ]);
  });

  test("defaults are filled in where the version has them", async () => {
    await using api = await startAll();
    const requests = [{ name: "one", deviceClassName: "gpu" }];
    const url = "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims";

    const { body } = await api.send("POST", url, {
      metadata: { name: "a" },
      spec: { devices: { requests } },
    });

    expect(body["spec"]?.["devices"]?.["requests"]).toMatchObject([
      { name: "one", deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 },
    ]);
  });

  test.each(["v1", "v1beta1", "v1beta2"])("slices are selected by driver in %s", async (version) => {
    await using api = await startAll();
    const content = slice([{ name: "x" }]);
    const url = "/apis/resource.k8s.io/v1/resourceslices";
    await api.send("POST", url, { metadata: { name: "a" }, ...content });
    const at = `/apis/resource.k8s.io/${version}/resourceslices?fieldSelector=spec.driver`;

    const found = await api.send("GET", `${at}=d.example`);
    const none = await api.send("GET", `${at}=e.example`);

    expect([found.body["items"], none.body["items"]]).toMatchObject([[{ metadata: { name: "a" } }], []]);
  });

  test.each(["v1alpha1", "v1beta1"])("trust bundles are selected by signer in %s", async (version) => {
    await using api = await startAll();
    const spec = { signerName: "example.com/a", trustBundle: TRUST_ANCHOR };
    await api.send("POST", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", {
      metadata: { name: "example.com:a:b" },
      spec,
    });
    const at = `/apis/certificates.k8s.io/${version}/clustertrustbundles?fieldSelector=spec.signerName`;

    const found = await api.send("GET", `${at}=example.com/a`);
    const none = await api.send("GET", `${at}=example.com/b`);

    expect([found.body["items"], none.body["items"]]).toMatchObject([[{ spec }], []]);
  });
});

describe("the metadata of version v1 of an autoscaler", () => {
  const PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
  const PARTIALS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  const metrics = [
    CPU,
    { type: "Pods", pods: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "1" } } },
  ];
  const kept = {
    annotations: {
      "autoscaling.alpha.kubernetes.io/metrics":
        '[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"1"}}]',
    },
  };
  const at = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

  async function startWithAutoscaler(): Promise<TestApi> {
    const api = await startAll();
    await api.send("POST", at("v2"), { metadata: { name: "a" }, spec: { ...BOUNDS, metrics } });
    return api;
  }

  test("has what v1 cannot say, alone and in a list; that of v2 has not", async () => {
    await using api = await startWithAutoscaler();

    const one = await api.send("GET", `${at("v1")}/a`, undefined, { accept: PARTIAL });
    const list = await api.send("GET", at("v1"), undefined, { accept: PARTIALS });
    const newer = await api.send("GET", `${at("v2")}/a`, undefined, { accept: PARTIAL });

    expect(one.body).toMatchObject({ kind: "PartialObjectMetadata", metadata: kept });
    expect(list.body["items"]).toMatchObject([{ metadata: kept }]);
    expect(newer.body["metadata"]).not.toHaveProperty("annotations");
  });

  test("has it in watches too, beside watches of another version", async () => {
    await using api = await startWithAutoscaler();
    const first = async (version: string): Promise<ReplyBody | undefined> => {
      const response = await api.raw("GET", `${at(version)}?watch=true`, undefined, { accept: PARTIAL });
      for await (const { object } of watchEvents(response)) return object["metadata"];
      return undefined;
    };

    expect(await first("v2")).not.toHaveProperty("annotations");
    expect(await first("v1")).toMatchObject(kept);
    expect(await first("v2")).not.toHaveProperty("annotations");
  });
});
