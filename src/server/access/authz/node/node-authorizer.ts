/**
 * Authorizes nodes. They read only objects that their own pods need, manage their own objects, and have the rules of
 * the role `system:node`. Reasons are upstream's.
 */
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import type { ReferencedResource } from "../../../../resources/pod/pod-references.ts";
import { exactField } from "../../../request/selector-terms.ts";
import type { User } from "../../../request/user.ts";
import type { AccessAttributes, AccessDecision, Authorizer } from "../authorizer.ts";
import { ruleAllows } from "../rbac/rule-match.ts";
import type { NodeGraph } from "./node-graph.ts";

const NAME_PREFIX = "system:node:";
const NODES = "system:nodes";
const LEASES = "kube-node-lease";

const ALLOWED: AccessDecision = { outcome: "allowed", reason: "" };
const NO_OPINION: AccessDecision = { outcome: "no opinion", reason: "" };

interface Parts {
  readonly graph: NodeGraph;
  /** Rules of the role `system:node`; loaded on first use. */
  readonly rules: () => readonly PolicyRule[];
}

interface Question {
  readonly node: string;
  readonly attributes: AccessAttributes;
  readonly graph: NodeGraph;
}

export function nodeAuthorizer({ graph, rules }: Parts): Authorizer {
  const decide: Authorizer["decide"] = (attributes) => {
    const node = nodeOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === "") return pass(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const { group, resource } = attributes;
    const full = group === "" ? resource : `${resource}.${group}`;
    const own = resource === "" ? undefined : OWN_RULES.get(full);
    if (own !== undefined) {
      const waiting = BY_PODS.has(full) ? graph.ready() : undefined;
      // Decides again from the start, because further reads may be pending by then.
      return waiting === undefined
        ? own({ node, attributes, graph })
        : waiting.then(() => decide(attributes));
    }
    return rules().some((rule) => ruleAllows(rule, attributes)) ? ALLOWED : NO_OPINION;
  };
  return {
    decide,
    rulesFor: (user) =>
      nodeOf(user) === undefined
        ? { rules: [], isIncomplete: false, error: undefined }
        : { rules: [], isIncomplete: true, error: "node authorizer does not support user rule resolution" },
  };
}

/** Undefined for a user that is not a node. */
function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(NAME_PREFIX) && groups.includes(NODES) ? name.slice(NAME_PREFIX.length) : undefined;
}

function pass(reason: string): AccessDecision {
  return { outcome: "no opinion", reason };
}

function related(isRelated: boolean, node: string): AccessDecision {
  return isRelated ? ALLOWED : pass(`no relationship found between node '${node}' and this object`);
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const KEEPS: ReadonlySet<string> = new Set(["get", "create", "update", "patch", "delete"]);
const WRITES: ReadonlySet<string> = new Set(["update", "patch"]);

type Rule = (question: Question) => AccessDecision;

const OWN_RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["secrets", (question) => readReferred("secrets", question)],
  ["configmaps", (question) => readReferred("configmaps", question)],
  ["persistentvolumeclaims", decideClaim],
  [
    "persistentvolumes",
    (question) => readOne(question, ({ name }) => question.graph.usesVolume(question.node, name)),
  ],
  ["resourceclaims.resource.k8s.io", (question) => readOneReferred("resourceclaims", question)],
  [
    "volumeattachments.storage.k8s.io",
    (question) => readOne(question, ({ name }) => question.graph.hasAttachment(question.node, name)),
  ],
  ["serviceaccounts", decideAccount],
  ["leases.coordination.k8s.io", decideLease],
  ["csinodes.storage.k8s.io", decideCsiNode],
  ["resourceslices.resource.k8s.io", decideSlice],
  ["nodes", decideNode],
  ["pods", decidePod],
]);

/** Resources that a node may read because its pods refer to them. */
const BY_PODS: ReadonlySet<string> = new Set([
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "persistentvolumes",
  "resourceclaims.resource.k8s.io",
  "serviceaccounts",
]);

function readReferred(resource: ReferencedResource, { node, attributes, graph }: Question): AccessDecision {
  const { verb, subresource, namespace, name } = attributes;
  if (!READS.has(verb)) return pass("can only read resources of this type");
  if (subresource !== "") return pass("cannot read subresource");
  if (namespace === "") return pass("can only read namespaced object of this type");
  if (name === "") return pass("No Object name found");
  return related(graph.refersTo(node, resource, { namespace, name }), node);
}

function readOne(
  { node, attributes }: Question,
  isRelated: (attributes: AccessAttributes) => boolean,
): AccessDecision {
  const { verb, subresource, name } = attributes;
  if (verb !== "get") return pass("can only get individual resources of this type");
  if (subresource !== "") return pass("cannot get subresource");
  if (name === "") return pass("No Object name found");
  return related(isRelated(attributes), node);
}

function readOneReferred(resource: ReferencedResource, question: Question): AccessDecision {
  const { graph, node } = question;
  return readOne(question, (attributes) => graph.refersTo(node, resource, attributes));
}

function decideClaim(question: Question): AccessDecision {
  const { node, attributes, graph } = question;
  const { verb, subresource, name } = attributes;
  if (subresource !== "status") return readOneReferred("persistentvolumeclaims", question);
  if (verb !== "get" && !WRITES.has(verb)) return pass("can only get/update/patch this type");
  if (name === "") return pass("No Object name found");
  return related(graph.refersTo(node, "persistentvolumeclaims", attributes), node);
}

/** Permits tokens for the accounts of the node's pods. It may read these accounts for their image pull secrets. */
function decideAccount(question: Question): AccessDecision {
  const { node, attributes, graph } = question;
  const { verb, subresource, name } = attributes;
  if (verb === "get" && subresource === "") return readOneReferred("serviceaccounts", question);
  if (verb !== "create" || name === "") return pass("can only create tokens for individual service accounts");
  if (subresource !== "token") return pass("can only create token subresource of service account");
  return related(graph.refersTo(node, "serviceaccounts", attributes), node);
}

function decideLease({ node, attributes }: Question): AccessDecision {
  const { verb, namespace, name } = attributes;
  if (!KEEPS.has(verb)) return pass("can only get, create, update, patch, or delete a node lease");
  if (namespace !== LEASES)
    return pass(`can only access leases in the ${JSON.stringify(LEASES)} system namespace`);
  // A create has its name in the body; admission checks it.
  if (verb !== "create" && name !== node)
    return pass("can only access node lease with the same name as the requesting node");
  return ALLOWED;
}

function decideCsiNode({ node, attributes }: Question): AccessDecision {
  const { verb, subresource, name } = attributes;
  if (!KEEPS.has(verb)) return pass("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return pass("cannot authorize CSINode subresources");
  if (verb !== "create" && name !== node)
    return pass("can only access CSINode with the same name as the requesting node");
  return ALLOWED;
}

function decideSlice({ node, attributes, graph }: Question): AccessDecision {
  const { verb, subresource, name, fieldSelector } = attributes;
  if (subresource !== "") return pass("cannot authorize ResourceSlice subresources");
  switch (verb) {
    case "create":
      return ALLOWED;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return name === "" ? pass("No Object name found") : related(graph.hasSlice(node, name), node);
    case "list":
    case "watch":
    case "deletecollection":
      return exactField(fieldSelector, "spec.nodeName") === node
        ? ALLOWED
        : pass("can only list/watch/deletecollection resourceslices with nodeName field selector");
    default:
      return pass(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
      );
  }
}

/** Permits reads of its own Node only; admission checks which Node it writes. */
function decideNode({ node, attributes }: Question): AccessDecision {
  const { verb, subresource, name } = attributes;
  if (subresource === "status") return WRITES.has(verb) ? ALLOWED : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (verb === "create" || WRITES.has(verb)) return ALLOWED;
  if (!READS.has(verb)) return NO_OPINION;
  if (name === node) return ALLOWED;
  if (name === "") return pass(`node '${node}' cannot read all nodes, only its own Node object`);
  return pass(`node '${node}' cannot read '${name}', only its own Node object`);
}

function decidePod(question: Question): AccessDecision {
  const { verb, subresource } = question.attributes;
  switch (subresource) {
    case "":
      return READS.has(verb)
        ? readPods(question)
        : verb === "create" || verb === "delete"
          ? ALLOWED
          : NO_OPINION;
    case "status":
      return WRITES.has(verb) ? ALLOWED : NO_OPINION;
    case "eviction":
      return verb === "create" ? ALLOWED : NO_OPINION;
    default:
      return NO_OPINION;
  }
}

function readPods({ node, attributes, graph }: Question): AccessDecision {
  const { verb, name, fieldSelector } = attributes;
  if (verb !== "get" && exactField(fieldSelector, "spec.nodeName") === node) return ALLOWED;
  if (name !== "") return related(graph.runsPod(node, attributes), node);
  return pass("can only list/watch pods with spec.nodeName field selector");
}
