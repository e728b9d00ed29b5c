import { describe, expect, test } from "vitest";
import { RequestNotes } from "../../request/request-notes.ts";
import { AuditAnnotations, noteFailure } from "./audit-annotations.ts";

describe("what policies say to the audit log", () => {
  test("stands under the name of the policy and the key, each value once", () => {
    const notes = new RequestNotes();
    const annotations = new AuditAnnotations();
    annotations.add("p", [["k", "one"]]);
    annotations.add("p", [["k", "two"]]);
    annotations.add("p", [["k", "one"]]);
    annotations.add("q", [["k", "x".repeat(20_000)]]);

    annotations.publish(notes);

    expect(notes.annotations.get("p/k")).toBe("one, two");
    expect(notes.annotations.get("q/k")).toHaveLength(10_240);
  });

  test("is what failed, in the form that upstream gives it", () => {
    const notes = new RequestNotes();

    noteFailure(
      { at: 1, message: "no", reason: "Invalid" },
      { policy: "p", binding: "b", actions: ["Warn", "Audit"] },
      notes,
    );

    expect(notes.annotations.get("validation.policy.admission.k8s.io/validation_failure")).toBe(
      '[{"message":"no","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
    );
  });
});
