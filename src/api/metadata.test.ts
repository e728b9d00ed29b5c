import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "./errors/field-error.ts";
import type { ObjectMeta, OwnerReference } from "./generated/types/meta-v1.ts";
import type { MetadataRules } from "./metadata.ts";
import {
  findController,
  validateManagedFields,
  validateMetadata,
  validateMetadataUpdate,
} from "./metadata.ts";
import { dns1123Subdomain } from "./values/names.ts";

const RULES: MetadataRules = {
  scope: "Namespaced",
  name: dns1123Subdomain,
  finalizers: "standard or qualified",
};

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "rs", uid: "u" };

function metadata(over: ObjectMeta = {}): ObjectMeta {
  return { name: "web", namespace: "default", resourceVersion: "1", ...over };
}

function problems(over: ObjectMeta, rules: Partial<MetadataRules> = {}): string[] {
  const errors = new FieldErrors();
  validateMetadata(metadata(over), { ...RULES, ...rules }, errors);
  return errors.found.map(fieldErrorText);
}

function updateProblems(next: ObjectMeta, previous: ObjectMeta = {}): string[] {
  const errors = new FieldErrors();
  validateMetadataUpdate(metadata(next), metadata(previous), { rules: RULES, errors });
  return errors.found.map(fieldErrorText);
}

describe("metadata of a new object", () => {
  test("an ordinary object is valid", () => {
    expect(
      problems({
        generateName: "web-",
        labels: { app: "web", constructor: "x" },
        annotations: { "Example.COM/a": "anything\n<>" },
        finalizers: ["example.com/x", "orphan"],
        ownerReferences: [{ ...owner, controller: true }, owner],
        managedFields: [{ operation: "Update", manager: "kubectl", fieldsType: "FieldsV1" }],
      }),
    ).toEqual([]);
  });

  test("a name is required and follows the rule of the kind", () => {
    expect(problems({ name: "" })).toEqual([
      "metadata.name: Required value: name or generateName is required",
    ]);
    expect(problems({ name: "Web" })[0]).toMatch(
      /^metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must/,
    );
    expect(problems({ generateName: "Web-" })[0]).toMatch(
      /^metadata.generateName: Invalid value: "Web-": a lower/,
    );
  });

  test("the namespace must fit the scope", () => {
    expect(problems({ namespace: "" })).toEqual(["metadata.namespace: Required value"]);
    expect(problems({ namespace: "a.b" })).toEqual([
      'metadata.namespace: Invalid value: "a.b": must not contain dots',
    ]);
    expect(problems({ namespace: "x" }, { scope: "Cluster" })).toEqual([
      "metadata.namespace: Forbidden: not allowed on this type",
    ]);
    expect(problems({ namespace: "" }, { scope: "Cluster" })).toEqual([]);
  });

  test("labels and annotations follow their rules", () => {
    expect(problems({ labels: { a: "-" } })[0]).toMatch(
      /^metadata.labels: Invalid value: "-": a valid label must be an empty string/,
    );
    expect(problems({ annotations: { "a/b/c": "" } })[0]).toMatch(
      /^metadata.annotations: Invalid value: "a\/b\/c": a valid label key must/,
    );
  });

  test("annotations of an object have at most 256 KiB", () => {
    const half = "é".repeat(64 * 1024 - 1);

    expect(problems({ annotations: { aa: half, bb: half } })).toEqual([]);
    expect(problems({ annotations: { aaa: half, bb: half } })).toEqual([
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ]);
  });

  test("owner references are complete, and at most one is the controller", () => {
    expect(problems({ ownerReferences: [{ apiVersion: "apps/", kind: "", name: "", uid: "" }] })).toEqual([
      'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
    const two = [
      { ...owner, controller: true },
      { ...owner, name: "other", controller: true },
    ];
    expect(problems({ ownerReferences: two })[0]).toMatch(
      /: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet\/rs and ReplicaSet\/other$/,
    );
    expect(problems({ ownerReferences: [{ ...owner, apiVersion: "v1", kind: "Event" }] })[0]).toMatch(
      /: \/v1, Kind=Event is disallowed from being an owner$/,
    );
  });

  test("finalizers are qualified or standard, and do not contradict each other", () => {
    expect(problems({ finalizers: ["mine"] })).toEqual([
      'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(problems({ finalizers: ["mine"] }, { finalizers: "any" })).toEqual([]);
    expect(problems({ finalizers: ["orphan", "foregroundDeletion"] })).toEqual([
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  test("generation is not negative, and names of managers are bounded", () => {
    const entry = { operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", manager: "m".repeat(129) };
    expect(problems({ generation: -1, managedFields: [entry] })).toEqual([
      "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
      "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
    ]);
  });

  test("unreadable managed fields are valid, because the server ignores them", () => {
    expect(problems({ managedFields: [{}] })).toEqual([]);
    expect(problems({ managedFields: [{ operation: "Delete", fieldsType: "FieldsV2" }] })).toEqual([]);
  });

  test("managed fields of an embedded object must be readable", () => {
    const errors = new FieldErrors();
    validateManagedFields(
      [{ operation: "Delete", fieldsType: "FieldsV2", manager: "m".repeat(129) }],
      errors,
    );
    expect(errors.found.map(fieldErrorText)).toEqual([
      'metadata.managedFields[0].operation: Invalid value: "Delete": must be `Apply` or `Update`',
      'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
      "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
    ]);
  });
});

describe("metadata of a changed object", () => {
  test("an unchanged object is valid", () => {
    expect(updateProblems({ labels: { a: "b" } }, { labels: { c: "d" } })).toEqual([]);
  });

  test("identity and times are immutable", () => {
    expect(
      updateProblems(
        { name: "other", uid: "2", creationTimestamp: "2026-01-01T00:00:00Z" },
        { uid: "1", deletionGracePeriodSeconds: 30 },
      ),
    ).toEqual([
      'metadata.name: Invalid value: "other": field is immutable',
      'metadata.uid: Invalid value: "2": field is immutable',
      'metadata.creationTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable',
      "metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable",
    ]);
  });

  test("a resource version is required, and generation never decreases", () => {
    expect(updateProblems({ resourceVersion: "", generation: 1 }, { generation: 2 })).toEqual([
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
      "metadata.generation: Invalid value: 1: must not be decremented",
    ]);
  });

  test("finalizers are qualified and do not contradict each other after an update too", () => {
    expect(updateProblems({ finalizers: ["A.b/c"] }, {})).toContainEqual(
      expect.stringMatching(
        /^metadata.finalizers: Invalid value: "A.b\/c": prefix part a lowercase RFC 1123/,
      ),
    );
    expect(updateProblems({ finalizers: ["orphan", "foregroundDeletion"] }, {})).toEqual([
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  test("an object in deletion refuses new finalizers but allows their removal", () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";

    expect(
      updateProblems(
        { deletionTimestamp, finalizers: ["x.io/b", "x.io/a", "x.io/c"] },
        { deletionTimestamp, finalizers: ["x.io/c"] },
      ),
    ).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/a", "x.io/b"}',
    ]);
    expect(updateProblems({ deletionTimestamp }, { deletionTimestamp, finalizers: ["x.io/c"] })).toEqual([]);
  });
});

describe("findController", () => {
  test("returns the controller's reference", () => {
    const controller = { ...owner, name: "c", controller: true };

    expect(findController({ ownerReferences: [owner, controller] })).toBe(controller);
    expect(findController({ ownerReferences: [owner] })).toBeUndefined();
    expect(findController({})).toBeUndefined();
  });
});
