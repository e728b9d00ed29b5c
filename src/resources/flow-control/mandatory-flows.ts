/**
 * The mandatory objects of flow control, which the server restores after any change. Administrators' requests
 * are exempt from queues. A catch-all level serves requests that match no other schema.
 */
import type {
  FlowSchemaSpec,
  PriorityLevelConfigurationSpec,
  Subject,
} from "../../api/generated/types/flowcontrol-v1.ts";

export const EXEMPT = "exempt";
export const CATCH_ALL = "catch-all";

const ALL = ["*"];

/** Clients may change the field `exempt` of the level `exempt`, and nothing else. */
export const MANDATORY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  [EXEMPT, { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [
    CATCH_ALL,
    {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 5,
        lendablePercent: 0,
        limitResponse: { type: "Reject" },
      },
    },
  ],
]);

export const MANDATORY_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [EXEMPT, { ...everythingOf("system:masters"), ...ranked(EXEMPT, 1) }],
  [
    CATCH_ALL,
    {
      ...everythingOf("system:unauthenticated", "system:authenticated"),
      ...ranked(CATCH_ALL, 10_000),
      distinguisherMethod: { type: "ByUser" },
    },
  ],
]);

function ranked(
  level: string,
  matchingPrecedence: number,
): Pick<FlowSchemaSpec, "priorityLevelConfiguration" | "matchingPrecedence"> {
  return { priorityLevelConfiguration: { name: level }, matchingPrecedence };
}

function everythingOf(...groups: readonly string[]): Pick<FlowSchemaSpec, "rules"> {
  const subjects: readonly Subject[] = groups.map((name) => ({ kind: "Group", group: { name } }));
  const resources = { verbs: ALL, apiGroups: ALL, resources: ALL, namespaces: ALL, clusterScope: true };
  const nonResourceRules = [{ verbs: ALL, nonResourceURLs: ALL }];
  return { rules: [{ subjects, resourceRules: [resources], nonResourceRules }] };
}
