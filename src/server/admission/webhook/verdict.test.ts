import { describe, expect, test } from "vitest";
import { toStatus } from "../../../api/errors/api-error.ts";
import { hookOf } from "./hook.ts";
import type { Hook, HookType } from "./hook.ts";
import { verdictOf } from "./verdict.ts";

function hook(type: HookType): Hook {
  return hookOf(
    {
      name: "x.example.com",
      admissionReviewVersions: ["v1"],
      clientConfig: { url: "https://x.example.com" },
      sideEffects: "None",
    },
    { type, configuration: "c", index: 0 },
  );
}

const review = (response: unknown, change: object = {}): object => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  response,
  ...change,
});
const patch = Buffer.from("[]").toString("base64");

describe("an answer", () => {
  test.each<[string, unknown, readonly [HookType, string]]>([
    ["without a response", review(undefined), ["validating", "webhook response was absent"]],
    ["that is a list", [], ["validating", "webhook response was absent"]],
    [
      "with the uid of another request",
      review({ uid: "2", allowed: true }),
      ["validating", 'expected response.uid="1", got "2"'],
    ],
    [
      "without apiVersion and kind",
      { response: { uid: "1", allowed: true } },
      ["validating", "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="],
    ],
    [
      "with a patch without a type",
      review({ uid: "1", allowed: true, patch }),
      ["mutating", "webhook returned response.patch but not response.patchType"],
    ],
    [
      "with a patch type without a patch",
      review({ uid: "1", allowed: true, patchType: "JSONPatch" }),
      ["mutating", "webhook returned response.patchType but not response.patch"],
    ],
    [
      "with a patch of another type",
      review({ uid: "1", allowed: true, patch, patchType: "Merge" }),
      ["mutating", 'unsupported patch type "Merge"'],
    ],
    [
      "with a patch that is not JSON",
      review({ uid: "1", allowed: true, patch: "bm9wZQ==", patchType: "JSONPatch" }),
      ["mutating", "invalid character"],
    ],
    [
      "with a patch that is not a list of changes",
      review({ uid: "1", allowed: true, patch: "e30=", patchType: "JSONPatch" }),
      ["mutating", "it is no list of changes"],
    ],
    [
      "with a patch from a validating webhook",
      review({ uid: "1", allowed: true, patch, patchType: "JSONPatch" }),
      ["validating", "validating webhook may not return response.patch"],
    ],
  ])("%s is refused", (_, answer, [type, message]) => {
    expect(() => verdictOf(answer, { hook: hook(type), version: "v1", uid: "1" })).toThrow(message);
  });

  test("in v1beta1 may omit kind, uid and patch type", () => {
    const verdict = verdictOf(
      { response: { allowed: true, patch } },
      { hook: hook("mutating"), version: "v1beta1", uid: "1" },
    );

    expect(verdict.patch).toEqual([]);
  });

  test("with the patch null, Go's nil slice, changes nothing", () => {
    const none = Buffer.from("null").toString("base64");
    const answer = review({ uid: "1", allowed: true, patch: none, patchType: "JSONPatch" });

    const verdict = verdictOf(answer, { hook: hook("mutating"), version: "v1", uid: "1" });

    expect(verdict.patch).toEqual([]);
  });

  test("that denies has no patch, and its causes omit empty members", () => {
    const status = { message: "m", details: { causes: [{ field: "spec.a" }] } };
    const answer = review({ uid: "1", allowed: false, status, patch: "bm9wZQ==", patchType: "JSONPatch" });

    const { denial, patch: unread } = verdictOf(answer, { hook: hook("mutating"), version: "v1", uid: "1" });

    expect(unread).toBeUndefined();
    expect(denial?.details?.causes).toEqual([{ field: "spec.a" }]);
  });

  test("adds annotations only under the name of its webhook", () => {
    const answer = review({
      uid: "1",
      allowed: true,
      warnings: ["w", 1],
      auditAnnotations: { a: "b", c: 1 },
    });

    const verdict = verdictOf(answer, { hook: hook("validating"), version: "v1", uid: "1" });

    expect(verdict.warnings).toEqual(["w"]);
    expect([...verdict.annotations]).toEqual([["x.example.com/a", "b"]]);
  });
});

describe("a denial", () => {
  const denied = 'admission webhook "x.example.com" denied the request';

  test.each([
    ["without a status", undefined, { message: `${denied} without explanation`, code: 400 }],
    ["with a message", { message: "no" }, { message: `${denied}: no`, code: 400 }],
    [
      "with a reason alone",
      { reason: "Policy" },
      { message: `${denied}: Policy`, reason: "Policy", code: 400 },
    ],
    [
      "with a code of its own",
      { message: "no", code: 418, reason: "NotFound" },
      { message: `${denied}: no`, reason: "NotFound", code: 418 },
    ],
    ["that calls itself a success", { message: "no", code: 200 }, { message: `${denied}: no`, code: 400 }],
  ])("%s has upstream's error text", (_, status, expected) => {
    const answer = review({ uid: "1", allowed: false, status });

    const { denial } = verdictOf(answer, { hook: hook("validating"), version: "v1", uid: "1" });

    const told = toStatus(denial);
    expect({ message: told.message, reason: told.reason, code: told.code }).toEqual({
      reason: undefined,
      ...expected,
    });
  });
});
