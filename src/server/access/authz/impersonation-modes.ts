/**
 * The impersonation modes, and the permissions that each requires. A constrained mode requires two: the action in
 * that mode (`impersonate-on:MODE:VERB`), and the identity (`impersonate:MODE`). The legacy mode requires only
 * `impersonate`, for any action. https://kep.k8s.io/5284
 */
import { dns1123Label, dns1123Subdomain } from "../../../api/values/names.ts";
import type { User } from "../../request/user.ts";
import { NOTHING_ASKED } from "./authorizer.ts";
import type { AccessAttributes } from "./authorizer.ts";

/** The identity that a client requests by its impersonation headers. */
export type RequestedUser = User;

export interface ImpersonationMode {
  /** Verb that permits the identity. The audit log records it for constrained modes. */
  readonly verb: string;
  /** Verb that permits the action; it is checked first. Undefined if the mode permits any action. */
  readonly onVerb: ((verb: string) => string) | undefined;
  readonly appliesTo: (wish: RequestedUser, user: User) => boolean;
  /** Adapts a question before the authorizers see it. */
  readonly put: (attributes: AccessAttributes) => AccessAttributes;
}

/** Permissions that are all required. */
export interface Demand {
  readonly each: readonly AccessAttributes[];
  /** Permission that replaces all of `each`. */
  readonly instead?: AccessAttributes;
  /** Reason why the request is refused in any case. */
  readonly refusal?: string;
}

/** In the order of trial, from the least powerful mode to the most. */
export const MODES: readonly ImpersonationMode[] = [
  constrained({
    name: "associated-node",
    appliesTo: (wish, user) => isNameOnly(wish) && isOnNode(user, findNode(wish.name)),
    put: asAnyNode,
  }),
  constrained({
    name: "arbitrary-node",
    appliesTo: (wish) => isNameOnly(wish) && findNode(wish.name) !== undefined,
  }),
  constrained({
    name: "serviceaccount",
    appliesTo: (wish) => isNameOnly(wish) && findAccount(wish.name) !== undefined,
  }),
  constrained({
    name: "user-info",
    appliesTo: ({ name }) => findNode(name) === undefined && findAccount(name) === undefined,
  }),
  { verb: "impersonate", onVerb: undefined, appliesTo: () => true, put: (attributes) => attributes },
];

interface ConstrainedMode {
  readonly name: string;
  readonly appliesTo: ImpersonationMode["appliesTo"];
  readonly put?: ImpersonationMode["put"];
}

function constrained({ name, appliesTo, put }: ConstrainedMode): ImpersonationMode {
  return {
    verb: `impersonate:${name}`,
    onVerb: (verb) => `impersonate-on:${name}:${verb}`,
    appliesTo,
    put: put ?? ((attributes) => attributes),
  };
}

export function isConstrained({ onVerb }: ImpersonationMode): boolean {
  return onVerb !== undefined;
}

const ASSOCIATED_NODE = "impersonate:associated-node";
const NODE_NAME_KEY = "authentication.kubernetes.io/node-name";
const ASSOCIATED_KEYS = "authentication.kubernetes.io/associated-node-keys";

/** This mode's permission holds for every node, so the question omits the node's name and node-specific values. */
function asAnyNode(attributes: AccessAttributes): AccessAttributes {
  const { user, verb, name } = attributes;
  const extra = { [ASSOCIATED_KEYS]: Object.keys(user.extra).toSorted() };
  return { ...attributes, user: { ...user, extra }, name: verb === ASSOCIATED_NODE ? "*" : name };
}

function isOnNode({ name, extra }: User, node: string | undefined): boolean {
  if (node === undefined || findAccount(name) === undefined) return false;
  const nodes = Object.hasOwn(extra, NODE_NAME_KEY) ? extra[NODE_NAME_KEY] : undefined;
  return nodes?.length === 1 && nodes[0] === node;
}

function isNameOnly({ uid, groups, extra }: RequestedUser): boolean {
  return uid === "" && groups.length === 0 && Object.keys(extra).length === 0;
}

const NODE_PREFIX = "system:node:";

function findNode(user: string): string | undefined {
  if (!user.startsWith(NODE_PREFIX)) return undefined;
  const name = user.slice(NODE_PREFIX.length);
  return dns1123Subdomain(name).length === 0 ? name : undefined;
}

interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

const ACCOUNT_PREFIX = "system:serviceaccount:";

function findAccount(user: string): AccountName | undefined {
  if (!user.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = "", name = "", ...rest] = user.slice(ACCOUNT_PREFIX.length).split(":");
  const isAccount =
    rest.length === 0 && dns1123Label(namespace).length === 0 && dns1123Subdomain(name).length === 0;
  return isAccount ? { namespace, name } : undefined;
}

const AUTHENTICATION = "authentication.k8s.io";

/** From this number of permissions on, the wildcard permission is checked first. */
const MANY = 4;

/**
 * Permissions that a mode requires for a request as another user; `request` is the action of the impersonating user.
 */
export function* demandsOf(
  mode: ImpersonationMode,
  wish: RequestedUser,
  request: AccessAttributes,
): Iterable<Demand> {
  if (mode.onVerb !== undefined) yield { each: [{ ...request, verb: mode.onVerb(request.verb) }] };
  const own = {
    ...NOTHING_ASKED,
    user: request.user,
    verb: mode.verb,
    group: AUTHENTICATION,
    version: "v1",
  };
  // The legacy mode uses the core group for users, groups and service accounts.
  const named = isConstrained(mode) ? own : { ...own, group: "" };
  yield { each: [{ ...named, ...whoOf(wish.name, mode) }] };
  if (wish.uid !== "") yield { each: [{ ...own, resource: "uids", name: wish.uid }] };
  if (wish.groups.length > 0) yield groupsDemand(wish.groups, { ...named, resource: "groups" }, mode);
  if (Object.keys(wish.extra).length > 0)
    yield extraDemand(wish.extra, { ...own, resource: "userextras" }, mode);
}

function whoOf(user: string, mode: ImpersonationMode): Partial<AccessAttributes> {
  const node = isConstrained(mode) ? findNode(user) : undefined;
  if (node !== undefined) return { resource: "nodes", name: node };
  const account = findAccount(user);
  return account === undefined
    ? { resource: "users", name: user }
    : { resource: "serviceaccounts", ...account };
}

const MASTERS = "system:masters";

function groupsDemand(groups: readonly string[], asked: AccessAttributes, mode: ImpersonationMode): Demand {
  const each = groups.map((name) => ({ ...asked, name }));
  if (!isConstrained(mode)) return { each };
  if (groups.includes(""))
    return { each: [asked], refusal: "impersonating the empty string group is not allowed" };
  if (groups.includes(MASTERS)) {
    const refusal = "impersonating the system:masters group is not allowed";
    return { each: [{ ...asked, name: MASTERS }], refusal };
  }
  return groups.length < MANY ? { each } : { each, instead: { ...asked, name: "*" } };
}

function extraDemand(extra: User["extra"], asked: AccessAttributes, mode: ImpersonationMode): Demand {
  const each = Object.entries(extra).flatMap(([subresource, values]) =>
    values.map((name) => ({ ...asked, subresource, name })),
  );
  if (!isConstrained(mode)) return { each };
  const refusal = extraProblem(extra);
  if (refusal !== undefined) return { each: [asked], refusal };
  return each.length < MANY ? { each } : { each, instead: { ...asked, subresource: "*", name: "*" } };
}

function extraProblem(extra: User["extra"]): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    const problem = keyProblem(key);
    if (problem !== undefined) return `impersonating an invalid key in extra is not allowed: ${problem}`;
    if (key !== key.toLowerCase())
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

const PATH_TEXT = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;
const PATH = new RegExp(`^${PATH_TEXT}$`);

function keyProblem(key: string): string | undefined {
  const [, host = "", path = ""] = /^(?<host>[^/]*)\/(?<path>[^]*)$/.exec(key) ?? [];
  const invalid = (value: string, why: string): string =>
    `extra.key: Invalid value: ${JSON.stringify(value)}: ${why}`;
  if (host === "" || path === "")
    return invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  const hostProblem = dns1123Subdomain(host)[0];
  if (hostProblem !== undefined) return invalid(host, hostProblem);
  return PATH.test(path)
    ? undefined
    : invalid(path, `Invalid path (regex used for validation is '${PATH_TEXT}')`);
}

const ANONYMOUS = "system:anonymous";
const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";

/**
 * The impersonated user. Implied groups are added, unless the client named system:authenticated or
 * system:unauthenticated itself.
 */
export function userOf(mode: ImpersonationMode, { name, uid, groups: asked, extra }: RequestedUser): User {
  const groups = asked.length === 0 ? ownGroups(name, mode) : asked;
  const isSaid = groups.includes(UNAUTHENTICATED) || (name !== ANONYMOUS && groups.includes(AUTHENTICATED));
  const implied = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  return { name, uid, groups: isSaid ? groups : [...groups, implied], extra };
}

function ownGroups(user: string, mode: ImpersonationMode): readonly string[] {
  if (isConstrained(mode) && findNode(user) !== undefined) return ["system:nodes"];
  const account = findAccount(user);
  if (account === undefined) return [];
  return ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
}
