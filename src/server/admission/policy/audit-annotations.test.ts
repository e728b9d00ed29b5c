import { describe, expect, test } from "vitest";
import { RequestNotes } from "../../request/request-notes.ts";
import { AuditAnnotations, noteFailure } from "./audit-annotations.ts";

describe("audit annotations of policies", () => {
  test("are keyed by policy name and key, with each value once", () => {
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

  test("contain the failure in upstream's format", () => {
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
