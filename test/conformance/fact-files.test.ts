/** The scripts reproduce the facts from what Kubernetes publishes, and the generated code from the facts. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/api/json/json-object.ts";
import { describeShared } from "../shared-files.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FACTS = join(ROOT, "facts/kubernetes-1.36");

/** Published documents about a part of `node.k8s.io/v1`, in upstream's forms. */
const DOCUMENTS = {
  version: "v1.36.4\n",
  "openapi-v3/apis__node.k8s.io__v1_openapi.json": JSON.stringify({
    components: {
      schemas: {
        "io.k8s.api.node.v1.RuntimeClass": {
          description: "A kind.",
          type: "object",
          required: ["handler"],
          properties: {
            apiVersion: { type: "string", description: "The version." },
            kind: { type: "string", description: "The kind." },
            metadata: {
              description: "Metadata.",
              default: {},
              allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }],
            },
            handler: { description: "A name.", type: "string", default: "" },
            overhead: { $ref: "#/components/schemas/io.k8s.api.node.v1.Overhead", description: "More." },
            scheduling: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.node.v1.Scheduling" }] },
          },
          "x-kubernetes-group-version-kind": [{ version: "v1", kind: "RuntimeClass", group: "node.k8s.io" }],
        },
        "io.k8s.api.core.v1.Toleration": {
          type: "object",
          properties: {
            effect: { type: "string", enum: ["NoExecute", "NoSchedule", "PreferNoSchedule"] },
            operator: { type: "string", enum: ["Equal", "Exists", "Gt", "Lt"] },
          },
        },
      },
    },
  }),
  "discovery/apis__node.k8s.io__v1.json": JSON.stringify({
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: "node.k8s.io/v1",
    resources: [
      {
        name: "runtimeclasses",
        singularName: "runtimeclass",
        namespaced: false,
        kind: "RuntimeClass",
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        storageVersionHash: "WQTu1GL3T2Q=",
      },
    ],
  }),
  "protos/k8s.io/api/node/v1/generated.proto": `syntax = "proto2";
package k8s.io.api.node.v1;

// A kind.
message RuntimeClass {
  // Metadata = 7;
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;

  optional string handler = 2;
  optional Overhead overhead = 3;
  optional Scheduling scheduling = 4;
}

message Overhead {
  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> podFixed = 1;
}
`,
};

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-facts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

function generate(...args: readonly string[]): string {
  return execFileSync(process.execPath, [join(ROOT, "scripts/generate-fact-files.mjs"), ...args], {
    encoding: "utf8",
  });
}

function read(folder: string, file: string): JsonObject {
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as JsonObject;
}

/** The members of the same names, in the same order. */
function sameMembers(known: unknown, made: unknown): unknown {
  const all = Object.entries(known as JsonObject);
  return Object.fromEntries(all.filter(([name]) => name in (made as JsonObject)));
}

test("published documents give the facts of their types, enums, resources and messages", () => {
  const made = folderOf({});
  generate(folderOf(DOCUMENTS), made);

  const { definitions } = read(made, "schema.json");
  const { ["io.k8s.api.node.v1.RuntimeClass"]: known } = read(FACTS, "schema.json")[
    "definitions"
  ] as JsonObject;
  expect(JSON.stringify((definitions as JsonObject)["io.k8s.api.node.v1.RuntimeClass"])).toBe(
    JSON.stringify(known),
  );
  const enums = read(made, "enums.json");
  expect(enums).toEqual(sameMembers(read(FACTS, "enums.json"), enums));
  const { messages } = read(made, "protobuf.json");
  expect(messages).toEqual(sameMembers(read(FACTS, "protobuf.json")["messages"], messages));
  const groups = read(FACTS, "resources.json")["groupVersions"] as readonly JsonObject[];
  expect(read(made, "resources.json")["groupVersions"]).toEqual(
    groups.filter(({ group }) => group === "node.k8s.io"),
  );
});

test("a file without a source stays as it is, and the run says so", () => {
  const made = folderOf({ "fields.json": "{}\n" });

  const said = generate(folderOf(DOCUMENTS), made);

  expect(readFileSync(join(made, "fields.json"), "utf8")).toBe("{}\n");
  expect(said).toContain("fields.json: no source, kept");
});

test("generating code from facts/ again changes nothing", () => {
  const generator = join(ROOT, "scripts/generate-facts.mjs");
  const run = spawnSync(process.execPath, [generator, "--check"], { encoding: "utf8" });

  expect(run).toMatchObject({ stderr: "", status: 0 });
});

describeShared("kubernetes-1.36", "the facts of Kubernetes 1.36", () => {
  test("come out byte for byte as they are in the repository", () => {
    const said = generate("--check", join(ROOT, "../shared/kubernetes-1.36"));

    expect(said.replace("type-names.json: no source, kept\n", "")).toBe("nothing has changed\n");
  });
});
