/**
 * Checks normal form and codec against upstream's published samples. Skipped where the shared folder with the samples
 * is missing.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-object.ts";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { toNormalForm } from "../schema/normal-form.ts";
import { type ResourceFacts, apiVersionOf, groupVersions } from "../schema/resource-facts.ts";
import type { StructSchema } from "../schema/schema.ts";
import { decodeObject, encodeObject, readEnvelope } from "./envelope.ts";

const FOLDER = fileURLToPath(new URL("../../../../shared/kubernetes-1.36/samples", import.meta.url));

interface Sample {
  readonly name: string;
  readonly schema: StructSchema | undefined;
  readonly json: JsonObject & { readonly apiVersion?: string; readonly kind?: string };
  readonly bytes: Uint8Array;
}

function kindOf(resource: ResourceFacts): string {
  return `${apiVersionOf(resource)} ${resource.kind}`;
}

function samples(): readonly Sample[] {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".json"))
    .map((file) => {
      const json = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Sample["json"];
      const name = file.replace(/\.json$/, "");
      const kind = name.split(".").at(-1) ?? "";
      return {
        name,
        schema: findKindSchema(json.apiVersion ?? "v1", kind),
        json,
        bytes: readFileSync(join(FOLDER, `${name}.pb`)),
      };
    });
}

describe.skipIf(!existsSync(FOLDER))("published samples", () => {
  const known = samples().filter(({ schema }) => schema !== undefined);

  test("samples without a schema are of unserved versions, query options, or webhook payloads", () => {
    const served = new Set(groupVersions().flatMap(({ resources }) => resources.map(kindOf)));
    const without = samples().filter(({ schema }) => schema === undefined);

    expect(known).toHaveLength(101);
    expect(
      without.filter(({ json }) => served.has(`${String(json.apiVersion)} ${String(json.kind)}`)),
    ).toEqual([]);
  });

  for (const { name, schema, json, bytes } of known) {
    if (schema === undefined) continue;
    test(`${name} is encoded byte for byte and decoded to the same JSON`, () => {
      const normal = toNormalForm(schema, json);
      expect(normal.unknownFields).toEqual([]);
      expect(normal.value).toEqual(json);
      expect(Buffer.from(encodeObject(schema, normal.value)).toString("hex")).toBe(
        Buffer.from(bytes).toString("hex"),
      );
      const decoded = decodeObject(schema, readEnvelope(bytes));
      expect(JSON.stringify(decoded)).toEqual(JSON.stringify(normal.value));
    });
  }
});
