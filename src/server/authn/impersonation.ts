/**
 * The stage at which somebody acts as somebody else, where they may: each part of who they want to be (user, groups, uid, extra) is a
 * permission of its own, asked for under the verb `impersonate`.
 */
import { ApiError } from "../../api/api-error.ts";
import { enforce } from "../authz/authorization.ts";
import { NOTHING_ASKED } from "../authz/authorizer.ts";
import type { AccessAttributes, Authorizer } from "../authz/authorizer.ts";
import type { Exchange, Next, Stage } from "../exchange.ts";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { User } from "../user.ts";
import { extraFrom, valuesOf } from "./header-values.ts";

const PREFIX = "impersonate-";
const EXTRA_PREFIX = "impersonate-extra-";
const AUTHENTICATION = "authentication.k8s.io";

export function impersonate(authorizer: Authorizer): Stage {
  return (exchange, next) => (isAsked(exchange.request) ? actAs(exchange, next, authorizer) : next(exchange));
}

/** Most requests do not, so this is all that they pay. */
function isAsked({ headers }: HttpRequest): boolean {
  for (const name of headers.keys()) if (name.startsWith(PREFIX)) return true;
  return false;
}

async function actAs(exchange: Exchange, next: Next, authorizer: Authorizer): Promise<HttpResponse> {
  const { request, user, notes } = exchange;
  if (user === undefined) throw new Error("who asks is known before they act as somebody else");
  const wish = readWish(request);
  if (wish === undefined) return next(exchange);
  for (const attributes of permissions(wish, user)) await enforce(attributes, authorizer, notes);
  const impersonated = userOf(wish);
  notes.impersonated = impersonated;
  return next({ ...exchange, user: impersonated, impersonatedBy: user });
}

/** Who somebody wants to be. */
interface Wish {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: User["extra"];
  readonly account: AccountName | undefined;
}

interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

function readWish(request: HttpRequest): Wish | undefined {
  const name = valuesOf(request, "impersonate-user")[0] ?? "";
  const uid = valuesOf(request, "impersonate-uid")[0] ?? "";
  const groups = valuesOf(request, "impersonate-group");
  const extra = extraFrom(request, EXTRA_PREFIX);
  if (name !== "") return { name, uid, groups, extra, account: findAccount(name) };
  if (uid === "" && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw new ApiError("InternalError", "requested impersonation without impersonating a user name");
}

const ACCOUNT = /^system:serviceaccount:(?<namespace>[a-z0-9-]{1,63}):(?<name>[a-z0-9.-]{1,253})$/;

function findAccount(user: string): AccountName | undefined {
  const { namespace, name } = ACCOUNT.exec(user)?.groups ?? {};
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

function* permissions({ name, uid, groups, extra, account }: Wish, user: User): Iterable<AccessAttributes> {
  const asked = { ...NOTHING_ASKED, user, verb: "impersonate" };
  if (account !== undefined) yield { ...asked, version: "v1", resource: "serviceaccounts", ...account };
  else yield { ...asked, version: "v1", resource: "users", name };
  for (const group of groups) yield { ...asked, version: "v1", resource: "groups", name: group };
  const own = { ...asked, group: AUTHENTICATION, version: "v1" };
  for (const [subresource, values] of Object.entries(extra))
    for (const value of values) yield { ...own, resource: "userextras", subresource, name: value };
  if (uid !== "") yield { ...own, resource: "uids", name: uid };
}

const ANONYMOUS = "system:anonymous";
const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";

/** Groups that follow from who it is are added, unless it was said which of the two it shall be. */
function userOf({ name, uid, groups: asked, extra, account }: Wish): User {
  const groups = account !== undefined && asked.length === 0 ? accountGroups(account) : asked;
  const isSaid = groups.includes(UNAUTHENTICATED) || (name !== ANONYMOUS && groups.includes(AUTHENTICATED));
  const implied = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  return { name, uid, groups: isSaid ? groups : [...groups, implied], extra };
}

function accountGroups({ namespace }: AccountName): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
