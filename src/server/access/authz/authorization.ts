/**
 * Authorizes a request, before a byte of its body is read. Of several authorizers the first with an opinion decides;
 * without an opinion the request is not allowed.
 */
import { forbidden, internalError } from "../../../api/errors/api-error.ts";
import type { ApiError } from "../../../api/errors/api-error.ts";
import { type MaybePromise, whenDone } from "../../../base/loop/maybe-promise.ts";
import type { Exchange, Stage } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import { NOTHING_ASKED } from "./authorizer.ts";
import type { AccessAttributes, AccessDecision, Authorizer, HeldRules } from "./authorizer.ts";

export function authorize(authorizer: Authorizer): Stage {
  return (exchange, next) => {
    const attributes = attributesOf(exchange);
    const enforced = enforce(attributes, authorizer, exchange.notes);
    if (!needsCreation(attributes, exchange.request)) return whenDone(enforced, () => next(exchange));
    const creation = { ...attributes, verb: "create" };
    return whenDone(enforced, () =>
      whenDone(enforce(creation, authorizer, exchange.notes), () => next(exchange)),
    );
  };
}

/** Throws or rejects with `Forbidden` unless the request is allowed. */
function enforce(
  attributes: AccessAttributes,
  authorizer: Authorizer,
  notes: RequestNotes,
): MaybePromise<void> {
  return whenDone(authorizer.decide(attributes), (decision) => conclude(decision, attributes, notes));
}

const INTO_CONTAINERS: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);

/**
 * Opening a stream into a container also needs `create`, because it has effects even when opened by GET. A stream through
 * `nodes/proxy` may be one: the kubelet sees the server as its caller, not the user.
 */
function needsCreation(
  { verb, group, resource, subresource }: AccessAttributes,
  { isUpgrade = false }: Exchange["request"],
): boolean {
  if (subresource === "" || group !== "") return false;
  if (resource === "nodes") return subresource === "proxy" && isUpgrade && verb !== "create";
  return verb === "get" && resource === "pods" && INTO_CONTAINERS.has(subresource);
}

/** Attributes of a request for the authorizers. */
export function attributesOf({ info, user }: Pick<Exchange, "info" | "user">): AccessAttributes {
  if (user === undefined) throw new Error("authorization must run after authentication");
  const { verb, path } = info;
  if (info.type === "other") return { ...NOTHING_ASKED, user, verb, path };
  const { group, version, resource, subresource } = info;
  // Built member by member: this runs for every request, and spreading an object is many times slower.
  return {
    user,
    verb,
    path: "",
    group,
    version,
    resource,
    subresource,
    namespace: info.accessNamespace,
    name: info.accessName,
    fieldSelector: info.fieldSelector,
    labelSelector: info.labelSelector,
  };
}

function conclude(decision: AccessDecision, attributes: AccessAttributes, notes: RequestNotes): void {
  const { outcome, reason, error } = decision;
  if (outcome === "allowed") {
    notes.noteAccess("allow", reason);
    return;
  }
  if (error === undefined) notes.noteAccess("forbid", reason);
  else notes.annotate("authorization.k8s.io/reason", "internal error");
  throw refusalOf(decision, attributes);
}

/** Error for a decision other than `allowed`. An authorizer that failed causes an internal error. */
function refusalOf({ reason, error }: AccessDecision, attributes: AccessAttributes): ApiError {
  return error === undefined ? accessRefusal(attributes, reason) : internalError(new Error(error));
}

/** The `Forbidden` error for a request. */
export function accessRefusal(attributes: AccessAttributes, reason: string): ApiError {
  const { group, resource, name } = attributes;
  return forbidden({ group, resource }, name, refusalText(attributes, reason));
}

/** Upstream's text, which kubectl shows. */
function refusalText({ user, verb, path, ...target }: AccessAttributes, reason: string): string {
  const { group, resource, subresource, namespace } = target;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  const why = reason === "" ? "" : `: ${reason}`;
  if (resource === "") return `${who} path ${JSON.stringify(path)}${why}`;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}${why}`;
}

/** Rejects with `Forbidden` unless the user may create the object. */
export type CreatePermission = () => Promise<void>;

interface Creation {
  readonly info: ResourceRequest;
  readonly user: User;
}

/**
 * PUT and server-side apply may create the object that they name. Such a request was authorized as `update` or `patch`,
 * so the creation is authorized as `create`, before the write. The authorizer is asked once per request, even if the
 * creation is retried.
 */
export function createPermission({ info, user }: Creation, authorizer: Authorizer): CreatePermission {
  const { group, version, resource, subresource, namespace, name } = info;
  // As upstream, creating a namespace is authorized at the cluster scope: roles within it do not count.
  const place = { group, version, resource, subresource, namespace, name };
  const attributes = { ...NOTHING_ASKED, user, verb: "create", ...place };
  let decided: AccessDecision | Promise<AccessDecision> | undefined;
  return async () => {
    const decision = await (decided ??= authorizer.decide(attributes));
    if (decision.outcome !== "allowed") throw refusalOf(decision, attributes);
  };
}

/** Members of this group bypass all authorizers, so that they can repair broken roles. */
const PRIVILEGED = "system:masters";

const ALLOWED: AccessDecision = { outcome: "allowed", reason: "" };

export function isPrivileged({ groups }: Pick<User, "groups">): boolean {
  return groups.includes(PRIVILEGED);
}

export function authorizerChain(members: readonly Authorizer[]): Authorizer {
  return {
    decide: (attributes) => (isPrivileged(attributes.user) ? ALLOWED : decide(attributes, members)),
    rulesFor: (user, namespace) => mergedRules(members, user, namespace),
  };
}

function decide(
  attributes: AccessAttributes,
  members: readonly Authorizer[],
): AccessDecision | Promise<AccessDecision> {
  const passed: AccessDecision[] = [];
  for (const [index, member] of members.entries()) {
    const made = member.decide(attributes);
    if (made instanceof Promise)
      return decideLater(attributes, { made, passed, rest: members.slice(index + 1) });
    if (made.outcome !== "no opinion") return made;
    if (made.reason !== "" || made.error !== undefined) passed.push(made);
  }
  return withoutOpinion(passed);
}

interface Waiting {
  readonly made: Promise<AccessDecision>;
  readonly passed: readonly AccessDecision[];
  readonly rest: readonly Authorizer[];
}

async function decideLater(
  attributes: AccessAttributes,
  { made, passed, rest }: Waiting,
): Promise<AccessDecision> {
  const asked = [...passed];
  for (let next: AccessDecision | undefined = await made, at = 0; next !== undefined; at++) {
    if (next.outcome !== "no opinion") return next;
    asked.push(next);
    next = await rest[at]?.decide(attributes);
  }
  return withoutOpinion(asked);
}

function withoutOpinion(asked: readonly AccessDecision[]): AccessDecision {
  const reasons = asked.map(({ reason }) => reason).filter((reason) => reason !== "");
  const errors = asked.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const reason = reasons.join("\n");
  if (errors.length === 0) return { outcome: "no opinion", reason };
  return {
    outcome: "no opinion",
    reason,
    error: errors.length === 1 ? errors.join("") : `[${errors.join(", ")}]`,
  };
}

function mergedRules(members: readonly Authorizer[], user: User, namespace: string): HeldRules {
  const all = members.flatMap((member) => member.rulesFor?.(user, namespace) ?? []);
  const errors = all.flatMap(({ error }) => (error === undefined ? [] : [error]));
  return {
    rules: all.flatMap(({ rules }) => rules),
    isIncomplete: all.some(({ isIncomplete }) => isIncomplete),
    error: errors.length === 0 ? undefined : errors.join(", "),
  };
}
