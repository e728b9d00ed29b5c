import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { readEnvelope, writeEnvelope } from "../../../api/protobuf/envelope.ts";
import { WireReader } from "../../../api/protobuf/wire-reader.ts";
import { WireWriter } from "../../../api/protobuf/wire-writer.ts";
import { groupVersions } from "../../../api/schema/resource-facts.ts";
import { conversions, kinds } from "../../../resources/index.ts";
import { Versions } from "../versions.ts";
import { ValueReader } from "./value-reader.ts";

const FOLDER = fileURLToPath(new URL("../../../../../shared/kubernetes-1.36/samples", import.meta.url));
const METADATA = 0x0a;

const reader = new ValueReader({ versions: new Versions(conversions), kinds });

function read(key: string, value: unknown): JsonObject {
  const bytes = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
  const { bytes: found } = reader.read(key, Buffer.from(bytes));
  return JSON.parse(found.toString()) as JsonObject;
}

/** Store location and scope of each stored kind of the published API. */
const places = new Map(
  groupVersions()
    .flatMap(({ resources }) => resources)
    .flatMap(({ kind, namespaced, storage }) =>
      storage === undefined
        ? []
        : [[kind, { group: storage.group, prefix: storage.prefix, namespaced }] as const],
    ),
);

function metadata(name: string, namespace?: string): JsonObject {
  return { name, ...(namespace !== undefined && { namespace }), uid: "1", creationTimestamp: null };
}

describe.skipIf(!existsSync(FOLDER))("values as kube-apiserver stores them", () => {
  const names = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replace(/\.json$/, ""))
    .filter((name) => places.has(name.split(".").at(-1) ?? "") && !name.endsWith(".ComponentStatus"));

  /** Cluster-scoped objects have no namespace, though the samples do. */
  function inPlace(bytes: Uint8Array, namespaced: boolean): Uint8Array {
    if (namespaced) return bytes;
    const { apiVersion, kind, raw } = readEnvelope(bytes);
    const fields = new WireReader(raw);
    if (fields.small(raw.length) !== METADATA) throw new Error("expected metadata first");
    const found = Buffer.from(fields.bytes(raw.length));
    const field = Buffer.concat([
      Buffer.from([0x1a, "namespaceValue".length]),
      Buffer.from("namespaceValue"),
    ]);
    const at = found.indexOf(field);
    const rest = Buffer.concat([found.subarray(0, at), found.subarray(at + field.length)]);
    const writer = new WireWriter();
    writer.bytes(raw.subarray(fields.at));
    writer.bytes(rest);
    writer.varint(rest.length);
    writer.varint(METADATA);
    return writeEnvelope({ apiVersion, kind, raw: writer.finish() });
  }

  test.each(names)("%s has the same result from protobuf and from JSON", (name) => {
    const { prefix, namespaced } = places.get(name.split(".").at(-1) ?? "") ?? {
      prefix: "",
      namespaced: false,
    };
    const key = `/registry/${prefix}/${namespaced ? "namespaceValue/" : ""}nameValue`;
    const json = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as JsonObject;
    const { namespace, ...others } = json["metadata"] as JsonObject;
    const value = { ...json, metadata: namespaced ? { ...others, namespace } : others };

    const fromJson = read(key, value);
    const fromProtobuf = read(key, inPlace(readFileSync(join(FOLDER, `${name}.pb`)), namespaced));

    expect(fromProtobuf).toEqual(fromJson);
    expect(fromJson).toMatchObject({ kind: json["kind"], metadata: { name: "nameValue", uid: "uidValue" } });
    expect(fromJson["metadata"]).not.toHaveProperty("resourceVersion");
  });
});

describe("an older version", () => {
  test("of an Ingress names Services in today's fields", () => {
    const backend = { serviceName: "web", servicePort: 80 };
    const value = {
      kind: "Ingress",
      apiVersion: "extensions/v1beta1",
      metadata: metadata("a", "default"),
      spec: {
        backend: { serviceName: "web", servicePort: "http" },
        rules: [{ host: "x.test", http: { paths: [{ path: "/", backend }] } }],
      },
    };

    expect(read("/registry/ingress/default/a", value)).toMatchObject({
      apiVersion: "networking.k8s.io/v1",
      spec: {
        defaultBackend: { service: { name: "web", port: { name: "http" } } },
        rules: [
          {
            host: "x.test",
            http: {
              paths: [
                {
                  path: "/",
                  pathType: "ImplementationSpecific",
                  backend: { service: { name: "web", port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    });
  });

  test("of an EndpointSlice has its zone in a field of its own", () => {
    const topology = {
      "topology.kubernetes.io/zone": "z1",
      "kubernetes.io/hostname": "n1",
      rack: "r1",
    };
    const value = {
      apiVersion: "discovery.k8s.io/v1beta1",
      kind: "EndpointSlice",
      metadata: metadata("a", "default"),
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], nodeName: "n1", topology }],
      ports: [],
    };

    expect(read("/registry/endpointslices/default/a", value)["endpoints"]).toEqual([
      {
        addresses: ["10.0.0.1"],
        conditions: {},
        deprecatedTopology: { rack: "r1" },
        nodeName: "n1",
        zone: "z1",
      },
    ]);
  });

  test("of a PodDisruptionBudget with an empty selector still selects nothing", () => {
    const value = {
      apiVersion: "policy/v1beta1",
      kind: "PodDisruptionBudget",
      metadata: metadata("a", "default"),
      spec: { selector: {}, minAvailable: 1 },
    };

    expect(read("/registry/poddisruptionbudgets/default/a", value)["spec"]).toMatchObject({
      selector: { matchExpressions: [{ operator: "Exists" }] },
    });
  });

  test("of a priority level has its shares under another name", () => {
    const limited = { assuredConcurrencyShares: 7, limitResponse: { type: "Reject" } };
    const value = {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1beta2",
      kind: "PriorityLevelConfiguration",
      metadata: metadata("a"),
      spec: { type: "Limited", limited },
    };

    expect(read("/registry/prioritylevelconfigurations/a", value)["spec"]).toMatchObject({
      limited: { nominalConcurrencyShares: 7 },
    });
  });

  test("of a RuntimeClass loses its spec level, and of a binding names groups", () => {
    const runtime = {
      apiVersion: "node.k8s.io/v1alpha1",
      kind: "RuntimeClass",
      metadata: metadata("a"),
      spec: { runtimeHandler: "runc" },
    };
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1alpha1",
      kind: "ClusterRoleBinding",
      metadata: metadata("a"),
      subjects: [
        { kind: "User", name: "*", apiVersion: "rbac.authorization.k8s.io/v1alpha1" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
      roleRef: { kind: "ClusterRole", name: "r" },
    };

    expect(read("/registry/runtimeclasses/a", runtime)).toMatchObject({ handler: "runc" });
    expect(read("/registry/clusterrolebindings/a", binding)).toMatchObject({
      subjects: [
        { kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    });
  });

  test("of a definition copies its shared fields into each version", () => {
    const value = {
      apiVersion: "apiextensions.k8s.io/v1beta1",
      kind: "CustomResourceDefinition",
      metadata: metadata("widgets.example.com"),
      spec: {
        group: "example.com",
        version: "v1",
        names: { plural: "widgets", kind: "Widget" },
        scope: "Namespaced",
        preserveUnknownFields: false,
        validation: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", JSONPath: ".spec.size" }],
        conversion: { strategy: "None" },
      },
      status: {
        acceptedNames: { plural: "widgets", kind: "Widget" },
        conditions: [],
        storedVersions: ["v1"],
      },
    };

    expect(
      read("/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com", value),
    ).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
          },
        ],
      },
    });
  });
});

describe("a value", () => {
  test("in this server's form is not encoded again, and is not stale", () => {
    const value = Buffer.from(
      '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"1"}}',
    );

    const found = reader.read("/registry/configmaps/default/a", value);

    expect([found.bytes === value, found.isStale]).toEqual([true, false]);
  });

  test("in another form is rewritten by a write that changes nothing", () => {
    const value = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: metadata("a", "default"),
      data: { a: "1" },
    };

    const { bytes, isStale } = reader.read(
      "/registry/configmaps/default/a",
      Buffer.from(JSON.stringify(value)),
    );

    expect(isStale).toBe(true);
    expect(bytes.toString()).toBe(
      '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"1"}}',
    );
  });

  test("gets the defaults that its kind gained since the write", () => {
    const spec = { ports: [{ port: 80 }], selector: { app: "a" } };
    const value = { apiVersion: "v1", kind: "Service", metadata: metadata("a", "default"), spec };

    expect(read("/registry/services/specs/default/a", value)["spec"]).toMatchObject({
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      type: "ClusterIP",
    });
  });

  test("that cannot be read is reported by its key, without its content", () => {
    const value = Buffer.from('{"apiVersion":"v1","kind":"Secret","data":{"password":"c3dvcmRmaXNo"}');

    expect(() => reader.read("/registry/secrets/default/a", value)).toThrow(
      'Internal error occurred: unable to decode key "/registry/secrets/default/a": the value is neither JSON nor protobuf',
    );
  });
});
