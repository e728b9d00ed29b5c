/**
 * Applies JSON Patch (RFC 6902) with the deviations of kube-apiserver's library. `replace` of a missing key adds it.
 * `test` of a missing key against null succeeds. Text before the first slash of a path is ignored.
 *
 * Inputs are not changed. The work of one patch is bounded: operations, bytes copied, elements moved, depth.
 */
import { type ApiError, badRequest, requestEntityTooLarge } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { goJsonWord } from "./go-text.ts";
import { PatchDocument } from "./patch-document.ts";
import { PatchFailure, FailedTest, unprocessablePatch } from "./patch-error.ts";

/** Upstream's limit. */
const OPERATIONS_MAX = 10_000;
/** Upstream's limit on the bytes that `copy` operations add, so that a patch cannot double a value repeatedly. */
const COPY_BYTES_MAX = 3 * 1024 * 1024;

export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const attempt = attemptJsonPatch(document, patch);
  if (attempt.outcome === "patched") return attempt.value;
  throw unprocessablePatch(attempt.why);
}

const MEMBERS: readonly string[] = ["op", "path", "from", "value"];

/** Paths of unknown members in operations: `[0].foo`. */
export function unknownMembers(patch: unknown): readonly string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation: unknown, i) =>
    isJsonObject(operation)
      ? Object.keys(operation)
          .filter((name) => !MEMBERS.includes(name))
          .map((name) => `[${i}].${name}`)
      : [],
  );
}

export type PatchAttempt =
  | { readonly outcome: "patched"; readonly value: unknown }
  /** A `test` operation fails. */
  | { readonly outcome: "unmet"; readonly why: string }
  | { readonly outcome: "failed"; readonly why: string };

/** For callers that handle a failed patch themselves. Still throws an ApiError if the patch is malformed. */
export function attemptJsonPatch(document: unknown, patch: unknown): PatchAttempt {
  const operations = decodeOperations(patch);
  const target = new PatchDocument(document, COPY_BYTES_MAX);
  try {
    for (const operation of operations) apply(target, operation);
    return { outcome: "patched", value: target.finish() };
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    return { outcome: error instanceof FailedTest ? "unmet" : "failed", why: error.message };
  }
}

function decodeOperations(patch: unknown): readonly JsonObject[] {
  if (!Array.isArray(patch)) throw undecodable(patch, "Go value of type []handlers.jsonPatchOp");
  if (patch.length > OPERATIONS_MAX) throw tooManyOperations(patch.length);
  return patch.map((operation: unknown) => {
    if (!isJsonObject(operation)) throw undecodable(operation, "Go value of type handlers.jsonPatchOp");
    for (const name of ["op", "path", "from"]) {
      const member = findMember(operation, name) ?? "";
      if (typeof member === "string") continue;
      throw undecodable(member, `Go struct field jsonPatchOp.${name} of type string`);
    }
    return operation;
  });
}

function apply(target: PatchDocument, operation: JsonObject): void {
  const op = textMember(operation, "op", "Unexpected kind: unknown");
  switch (op) {
    case "add":
      return target.add(pathOf(operation, op), valueOf(operation));
    case "remove":
      return target.remove(pathOf(operation, op));
    case "replace":
      return target.replace(pathOf(operation, op), valueOf(operation));
    case "move":
      return target.move(fromOf(operation, op), pathOf(operation, op));
    case "copy":
      return target.copy(fromOf(operation, op), pathOf(operation, op));
    case "test":
      return target.test(pathOf(operation, op), valueOf(operation));
    default:
      throw new PatchFailure(`Unexpected kind: ${op}`);
  }
}

function pathOf(operation: JsonObject, op: string): string {
  return textMember(operation, "path", `${op} operation failed to decode path: missing value`);
}

function fromOf(operation: JsonObject, op: string): string {
  const why = `${op} operation failed to decode from: operation, missing from field: missing value`;
  return textMember(operation, "from", why);
}

function textMember(operation: JsonObject, name: string, failure: string): string {
  const member = findMember(operation, name);
  if (typeof member !== "string") throw new PatchFailure(failure);
  return member;
}

/** A missing value means null. */
function valueOf(operation: JsonObject): unknown {
  return findMember(operation, "value") ?? null;
}

function findMember(operation: JsonObject, name: string): unknown {
  return Object.hasOwn(operation, name) ? operation[name] : undefined;
}

function tooManyOperations(count: number): ApiError {
  return requestEntityTooLarge(
    `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${count}`,
  );
}

function undecodable(value: unknown, target: string): ApiError {
  return badRequest(`error decoding patch: json: cannot unmarshal ${goJsonWord(value)} into ${target}`);
}
