import { describe, expect, test } from "vitest";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from "../../../api/generated/types/apiextensions-v1.ts";
import { incomplete } from "../../../api/object-fixture.ts";
import { plannedStatus, takenNames } from "./name-plan.ts";

const NOW = "2026-11-15T12:00:00Z";
const names = {
  plural: "widgets",
  singular: "widget",
  kind: "Widget",
  listKind: "WidgetList",
  shortNames: ["wd"],
};
const fresh: CustomResourceDefinitionStatus = {
  acceptedNames: { plural: "", kind: "" },
  conditions: [],
  storedVersions: ["v1"],
};

function definition(
  status: CustomResourceDefinitionStatus = fresh,
  change: { readonly group?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): CustomResourceDefinition {
  const { group = "example.com", annotations = {} } = change;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: incomplete<CustomResourceDefinition["metadata"]>({ name: `widgets.${group}`, annotations }),
    spec: { group, scope: "Cluster", names, versions: [] },
    status,
  };
}

const nobody = takenNames([]);

describe("plannedStatus", () => {
  test("a kind without usable conversion certificates is not established until they are corrected", () => {
    const webhook = { clientConfig: { caBundle: "Cg==" }, conversionReviewVersions: ["v1"] };
    const plain = definition();
    const unsafe = {
      ...plain,
      spec: { ...plain.spec, conversion: { strategy: "Webhook" as const, webhook } },
    };

    const status = plannedStatus(unsafe, nobody, NOW);

    expect(status.conditions[1]).toMatchObject({
      type: "Established",
      status: "False",
      reason: "InvalidCABundle",
    });
    expect(plannedStatus({ ...plain, status }, nobody, NOW).conditions[1]).toMatchObject({ status: "True" });
    const established = plannedStatus(plain, nobody, NOW);
    expect(plannedStatus({ ...unsafe, status: established }, nobody, NOW)).toBe(established);
  });

  test("a definition without conflicts gets its names and is established", () => {
    expect(plannedStatus(definition(), nobody, NOW)).toEqual({
      acceptedNames: names,
      conditions: [
        {
          type: "NamesAccepted",
          status: "True",
          reason: "NoConflicts",
          message: "no conflicts found",
          lastTransitionTime: NOW,
        },
        {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
          lastTransitionTime: NOW,
        },
      ],
      storedVersions: ["v1"],
    });
  });

  test("a status that is already correct does not change", () => {
    const status = plannedStatus(definition(), nobody, NOW);

    expect(plannedStatus(definition(status), nobody, "2027-01-01T00:00:00Z")).toBe(status);
  });

  test.each([
    [{ plural: "widgets", kind: "X" }, "PluralConflict", '"widgets" is already in use'],
    [{ plural: "x", singular: "widget", kind: "X" }, "SingularConflict", '"widget" is already in use'],
    [{ plural: "x", shortNames: ["wd"], kind: "X" }, "ShortNamesConflict", '"wd" is already in use'],
    [{ plural: "wd", kind: "X" }, "ShortNamesConflict", '"wd" is already in use'],
    [{ plural: "x", kind: "Widget" }, "KindConflict", '"Widget" is already in use'],
    [
      { plural: "x", kind: "X", listKind: "WidgetList" },
      "ListKindConflict",
      '"WidgetList" is already in use',
    ],
  ])("a definition with a taken name is not established: %j", (taken, reason, message) => {
    expect(plannedStatus(definition(), takenNames([taken]), NOW).conditions).toMatchObject([
      { type: "NamesAccepted", status: "False", reason, message },
      { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
    ]);
  });

  test("an established kind stays established when it loses a name", () => {
    const status = plannedStatus(definition(), nobody, NOW);
    const renamed = { ...status, acceptedNames: { ...status.acceptedNames, shortNames: ["old"] } };

    const next = plannedStatus(definition(renamed), takenNames([{ plural: "wd", kind: "X" }]), NOW);

    expect(next.acceptedNames.shortNames).toEqual(["old"]);
    expect(next.conditions).toMatchObject([
      { type: "NamesAccepted", status: "False", reason: "ShortNamesConflict" },
      { type: "Established", status: "True" },
    ]);
  });

  test("a community group reports whether its API was approved", () => {
    const annotations = { "api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1" };

    const { conditions } = plannedStatus(definition(fresh, { group: "x.k8s.io", annotations }), nobody, NOW);

    expect(conditions.at(-1)).toMatchObject({
      type: "KubernetesAPIApprovalPolicyConformant",
      status: "True",
      reason: "ApprovedAnnotation",
      message: "approved in https://github.com/kubernetes/enhancements/pull/1",
    });
  });
});
