/** The resources of `causes.setpoint.dev`: names, schemas and table columns. */
import { CAUSES_GROUP, type Change } from "../../../api/causes/change.ts";
import type { JSONSchemaProps } from "../../../api/generated/types/apiextensions-v1.ts";
import type { ColumnFacts } from "../../../api/schema/resource-facts.ts";
import { ownResource } from "../../objects/own-kinds.ts";
import type { OwnGroupVersion } from "../../objects/own-kinds.ts";

const PLACE = { group: CAUSES_GROUP, version: "v1" };

/** After all groups of Kubernetes. */
const ORDER: readonly [group: number, version: number] = [100, 100];

/** Fields by which changes are selected. A name is only unique with its kind. */
const CHANGE_FIELDS = ["object.group", "object.kind", "object.name", "revision"] as const;

const text = (description: string): JSONSchemaProps => ({ description, type: "string" });
const whole = (description: string): JSONSchemaProps => ({ description, type: "integer" });
const anything = (description: string): JSONSchemaProps => ({
  description,
  "x-kubernetes-preserve-unknown-fields": true,
});

const OBJECT: JSONSchemaProps = {
  description: "An object. Only `hidden` is set when the user may not read it.",
  type: "object",
  properties: {
    group: text("API group; empty for the core group."),
    kind: text("Kind."),
    resource: text("Plural name."),
    namespace: text("Namespace; empty for a cluster-scoped object."),
    name: text("Name."),
    uid: text("UID."),
    hidden: { description: "The user may not read the object.", type: "boolean" },
  },
};

const REASON: JSONSchemaProps = {
  type: "object",
  required: ["type"],
  properties: {
    type: { description: "Object, Timer, Resync or Retry.", type: "string" },
    object: OBJECT,
    resourceVersion: text("Version of the object that was seen."),
    deleted: { description: "The object was deleted.", type: "boolean" },
    attempt: whole("Number of the retry."),
  },
};

const PASS: JSONSchemaProps = {
  description: "The pass of a controller that made the change.",
  type: "object",
  required: ["id", "reasons", "reasonCount", "otherWrites", "otherWriteCount"],
  properties: {
    id: text("Id of the pass, as its controller states it."),
    subject: OBJECT,
    note: text("Reason in the controller's words."),
    reasons: { description: "Why the pass ran; at most eight.", type: "array", items: REASON },
    reasonCount: whole("Number of all reasons."),
    otherWrites: {
      description: "Other writes of the pass; at most 16.",
      type: "array",
      items: {
        type: "object",
        required: ["revision", "object"],
        properties: { revision: text("Revision of the write."), object: OBJECT },
      },
    },
    otherWriteCount: whole("Number of all other writes."),
  },
};

const CHANGE: JSONSchemaProps = {
  description: "One write of one object, with its author and cause.",
  type: "object",
  required: ["revision", "operation", "object"],
  properties: {
    revision: text("Revision of the write: the resourceVersion that it gave to the object."),
    time: { description: "Time of the write, if it is known.", type: "string", format: "date-time" },
    operation: text("Created, Updated or Deleted."),
    object: OBJECT,
    author: {
      description: "Author of the write. Only `manager` is set when no server remembers the request.",
      type: "object",
      properties: {
        user: text("User name."),
        manager: text("Field manager."),
        userAgent: text("User agent."),
        command: text("Command of kubectl."),
        auditId: text("Id of the request in the audit log."),
      },
    },
    pass: PASS,
    fields: {
      description: "Changed fields. Absent when the history no longer has the states.",
      type: "array",
      items: {
        type: "object",
        required: ["path"],
        properties: {
          path: text("Path of the field."),
          before: anything("Value before the write."),
          after: anything("Value after the write."),
          withheld: text("Secret or Large: why the values are not shown."),
        },
      },
    },
  },
};

const REVISION: JSONSchemaProps = {
  description: "The newest revision at a time, which is the name of the object.",
  type: "object",
  required: ["revision", "time"],
  properties: {
    revision: text("Revision, for reads with resourceVersionMatch=Exact."),
    time: { description: "Time of its write.", type: "string", format: "date-time" },
  },
};

const COLUMNS: readonly ColumnFacts[] = [
  { name: "Revision", type: "string", format: "", priority: 0 },
  { name: "Time", type: "string", format: "", priority: 0 },
  { name: "Operation", type: "string", format: "", priority: 0 },
  { name: "Object", type: "string", format: "", priority: 0 },
  { name: "User", type: "string", format: "", priority: 0 },
  { name: "Fields", type: "string", format: "", priority: 0 },
  { name: "Pass", type: "string", format: "", priority: 1 },
];

export function causesKinds(): OwnGroupVersion {
  const changes = ownResource({
    ...PLACE,
    name: "changes",
    kind: "Change",
    namespaced: true,
    verbs: ["list"],
    definition: "dev.setpoint.causes.v1.Change",
    fieldSelectors: CHANGE_FIELDS,
    openApi: CHANGE,
    rules: { columns: COLUMNS, cells: (object) => cellsOf(object as Change) },
  });
  const revisions = ownResource({
    ...PLACE,
    name: "revisions",
    kind: "Revision",
    namespaced: false,
    verbs: ["get"],
    definition: "dev.setpoint.causes.v1.Revision",
    openApi: REVISION,
    rules: {},
  });
  return { ...PLACE, order: ORDER, resources: [changes, revisions] };
}

function cellsOf({ revision, time, operation, object, author, fields, pass }: Change): readonly string[] {
  const names = fields?.map(({ path }) => path).join(",") ?? "<unknown>";
  const user = author?.user ?? author?.manager ?? "<unknown>";
  return [
    revision,
    time ?? "<unknown>",
    operation,
    `${object.kind}/${object.name}`,
    user,
    names,
    pass?.id ?? "",
  ];
}
