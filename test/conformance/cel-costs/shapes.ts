/** Schemas under which the rules of rules.tsv were estimated: each field is bounded, unbounded, or bounded in another way. */
import type { JSONSchemaProps } from "../../../src/api/generated/types/apiextensions-v1.ts";

type Fields = Readonly<Record<string, JSONSchemaProps>>;

const COMMON: Fields = {
  i: { type: "integer" },
  d: { type: "number" },
  b: { type: "boolean" },
  dt: { type: "string", format: "date-time" },
  du: { type: "string", format: "duration" },
  ios: { "x-kubernetes-int-or-string": true },
  o: { type: "object", properties: { a: { type: "string", maxLength: 7 }, z: { type: "integer" } } },
  ll: {
    type: "array",
    items: { type: "array", items: { type: "string", maxLength: 4 }, maxItems: 3 },
    maxItems: 4,
  },
  nu: { type: "string", nullable: true, maxLength: 6 },
};

export const SHAPES: Readonly<Record<"bounded" | "free" | "mixed" | "bytes", Fields>> = {
  bounded: {
    ...COMMON,
    s: { type: "string", maxLength: 64 },
    t: { type: "string", maxLength: 10 },
    e: { type: "string", enum: ["alpha", "be", "gamma-delta"] },
    ls: { type: "array", items: { type: "string", maxLength: 20 }, maxItems: 8 },
    li: { type: "array", items: { type: "integer" }, maxItems: 8 },
    lo: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string", maxLength: 30 }, n: { type: "integer" } },
      },
      maxItems: 5,
    },
    m: { type: "object", additionalProperties: { type: "string", maxLength: 12 }, maxProperties: 6 },
    mi: { type: "object", additionalProperties: { type: "integer" }, maxProperties: 6 },
    set: {
      type: "array",
      items: { type: "string", maxLength: 9 },
      maxItems: 7,
      "x-kubernetes-list-type": "set",
    },
  },
  free: {
    ...COMMON,
    s: { type: "string" },
    t: { type: "string" },
    e: { type: "string", enum: ["x"] },
    ls: { type: "array", items: { type: "string" } },
    li: { type: "array", items: { type: "integer" } },
    lo: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, n: { type: "integer" } } },
    },
    m: { type: "object", additionalProperties: { type: "string" } },
    mi: { type: "object", additionalProperties: { type: "integer" } },
    set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  },
  mixed: {
    ...COMMON,
    s: { type: "string", maxLength: 253 },
    t: { type: "string" },
    e: { type: "string", enum: ["a", "b"] },
    ls: { type: "array", items: { type: "string" }, maxItems: 3 },
    li: { type: "array", items: { type: "integer" }, maxItems: 1000 },
    lo: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", minLength: 3 }, n: { type: "integer" } },
      },
    },
    m: { type: "object", additionalProperties: { type: "string", maxLength: 5 } },
    mi: { type: "object", additionalProperties: { type: "integer" }, maxProperties: 200 },
    set: { type: "array", items: { type: "string", maxLength: 3 }, "x-kubernetes-list-type": "set" },
  },
  bytes: {
    ...COMMON,
    s: { type: "string", maxLength: 100 },
    t: { type: "string", format: "byte" },
    e: { type: "string", format: "date" },
    ls: { type: "array", items: { type: "string", format: "date-time" }, maxItems: 4 },
    li: { type: "array", items: { type: "integer", minimum: 0 }, maxItems: 4 },
    lo: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string", format: "duration" }, n: { type: "integer", format: "int64" } },
      },
      maxItems: 4,
    },
    m: { type: "object", additionalProperties: { type: "string", format: "uuid" }, maxProperties: 4 },
    mi: { type: "object", additionalProperties: { type: "number" }, maxProperties: 4 },
    set: {
      type: "array",
      items: { type: "string", format: "ipv4" },
      maxItems: 4,
      "x-kubernetes-list-type": "set",
    },
  },
};
