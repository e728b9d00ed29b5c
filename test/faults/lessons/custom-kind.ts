/** A custom kind that accepts everything, and requests that must succeed. */
import { expect } from "vitest";
import { hasCondition, text, until } from "../../api-harness.ts";
import type { Reply, TestApi } from "../../api-harness.ts";

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** The reply of a successful request; throws otherwise. */
export async function made(reply: Promise<Reply>): Promise<Reply> {
  const { code, body, ...rest } = await reply;
  expect([code < 300, text(body["message"])]).toEqual([true, ""]);
  return { code, body, ...rest };
}

interface CustomKind {
  readonly plural: string;
  readonly group?: string;
  readonly kind?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly schema?: unknown;
  readonly more?: object;
}

export function definitionOf(wanted: CustomKind): object {
  const { plural, group = "example.com", kind = plural, scope = "Namespaced", more = {} } = wanted;
  const { schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true } } = wanted;
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { plural, singular: plural, kind }, versions: [version] },
  };
}

/** Resolves once the kind is served. */
export async function defineKind(api: TestApi, wanted: CustomKind): Promise<void> {
  const { plural, group = "example.com" } = wanted;
  await made(api.send("POST", DEFINITIONS, definitionOf(wanted)));
  await until(api, `${DEFINITIONS}/${plural}.${group}`, hasCondition("Established"));
}

export function custom(kind: string, name: string, fields: object = {}): object {
  return { apiVersion: "example.com/v1", kind, metadata: { name }, ...fields };
}

/** Processor time of the server for a response, in milliseconds: unlike the wall clock, a busy machine does not change it. */
export async function costOf(send: () => Promise<Reply>): Promise<{ costMs: number; code: number }> {
  const start = process.cpuUsage();
  const { code } = await send();
  const { user, system } = process.cpuUsage(start);
  return { costMs: (user + system) / 1000, code };
}
