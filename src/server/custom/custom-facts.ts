/** Describes a version of a custom kind by the same facts as a built-in resource. */
import { createHash } from "node:crypto";
import type { ColumnFacts, ResourceFacts, SubresourceFacts, Verb } from "../../api/schema/resource-facts.ts";
import type { CustomOutline, VersionOutline } from "./custom-outline.ts";

const VERBS: readonly Verb[] = [
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "create",
  "update",
  "watch",
];
const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

export function customFacts(outline: CustomOutline, version: VersionOutline): ResourceFacts {
  const { group, names, isNamespaced, storageVersion } = outline;
  return {
    name: names.plural,
    singular: names.singular ?? "",
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: isNamespaced,
    verbs: VERBS,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    subresources: subresourcesOf(outline, version),
    storage: {
      group,
      version: storageVersion,
      hash: storageHash(group, storageVersion, names.kind),
      prefix: `${group}/${names.plural}`,
      createsOnUpdate: false,
      updatesUnconditionally: false,
      hasGeneration: true,
      showsDeleted: false,
    },
    columns: columnsOf(version),
    fieldSelectors: version.selectable,
    definition: [...group.split(".").toReversed(), version.name, names.kind].join("."),
  };
}

function subresourcesOf(
  { group, names }: CustomOutline,
  version: VersionOutline,
): readonly SubresourceFacts[] {
  const status: SubresourceFacts = {
    name: "status",
    group,
    version: version.name,
    kind: names.kind,
    verbs: PART_VERBS,
    hasOwnGroup: false,
  };
  const scale: SubresourceFacts = {
    name: "scale",
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    verbs: PART_VERBS,
    hasOwnGroup: true,
  };
  return [...(version.hasStatus ? [status] : []), ...(version.scale === undefined ? [] : [scale])];
}

const NAME_COLUMN: ColumnFacts = { name: "Name", type: "string", format: "name", priority: 0 };
/** Path of the default column for kinds without printer columns. */
export const AGE_PATH = ".metadata.creationTimestamp";
const AGE_COLUMN: ColumnFacts = {
  name: "Age",
  type: "date",
  format: "",
  priority: 0,
  description: `Custom resource definition column (in JSONPath format): ${AGE_PATH}`,
};

function columnsOf({ columns }: VersionOutline): readonly ColumnFacts[] {
  if (columns === undefined || columns.length === 0) return [NAME_COLUMN, AGE_COLUMN];
  return [
    NAME_COLUMN,
    ...columns.map(({ name, type, format = "", priority = 0, description = "", jsonPath }) => ({
      name,
      type: type as ColumnFacts["type"],
      format,
      priority,
      description:
        description === ""
          ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
          : description,
    })),
  ];
}

/** Upstream's algorithm: clients compare the hash to notice a change of the storage version. */
function storageHash(group: string, version: string, kind: string): string {
  const digest = createHash("sha256").update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString("base64");
}
