import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { Namespace } from "../../api/generated/types/core-v1.ts";
import { KindProbe } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { namespace, prepareNamespaceFinalize, validateNamespaceFinalize } from "./namespace.ts";

const probe = new KindProbe(namespace);
const NAME_LABEL = "kubernetes.io/metadata.name";

function made(manifest = {}): Draft<Namespace> {
  return probe.created(manifest) as Draft<Namespace>;
}

describe("a Namespace", () => {
  test("starts active, with its finalizer and a label with its name", () => {
    expect(probe.created({ metadata: { name: "a", labels: { [NAME_LABEL]: "b" } } })).toMatchObject({
      metadata: { labels: { [NAME_LABEL]: "a" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("keeps finalizers of the client", () => {
    expect(probe.created({ spec: { finalizers: ["example.com/x"] } })).toMatchObject({
      spec: { finalizers: ["example.com/x", "kubernetes"] },
    });
  });

  test("has a DNS label as name", () => {
    expect(probe.nameProblems("1a")).toEqual([]);
    expect(probe.nameProblems("a.b")).toEqual(["must not contain dots"]);
  });

  test("refuses a finalizer without a domain", () => {
    expect(probe.problems({ spec: { finalizers: ["x"] } })).toEqual([
      'spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  test("keeps its finalizers on update", () => {
    expect(probe.updated({ spec: { finalizers: [] } }, {})).toMatchObject({
      spec: { finalizers: ["kubernetes"] },
    });
  });

  test.each([
    [{}, "Active", []],
    [
      {},
      "Terminating",
      ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
    ],
    [
      { deletionTimestamp: "2026-01-01T00:00:00Z" },
      "Active",
      [
        "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty",
      ],
    ],
    [{ deletionTimestamp: "2026-01-01T00:00:00Z" }, "Terminating", []],
  ])("has a phase that agrees with its deletion time: %#", (metadata, phase, problems) => {
    expect(probe.statusProblems({ metadata, status: { phase } })).toEqual(problems);
  });

  test("shows its phase and is selectable by it", () => {
    const manifest = { status: { phase: "Terminating" } };

    expect(probe.cells(manifest)).toEqual(["it", "Terminating", "2m5s"]);
    expect(probe.fields(manifest)).toEqual({ "status.phase": "Terminating" });
  });
});

describe("the finalize subresource of a namespace", () => {
  test("leaves status unchanged and checks finalizers", () => {
    const draft = { ...made(), spec: { finalizers: ["x"] }, status: {} };
    const errors = new FieldErrors();

    prepareNamespaceFinalize(draft, made());
    validateNamespaceFinalize(draft, errors);

    expect(draft.status).toEqual({ phase: "Active" });
    expect(errors.found.map(fieldErrorText)).toEqual([
      'spec.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});
