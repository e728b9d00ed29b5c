/**
 * Pipeline stage for impersonation. It tries the modes of `impersonation-modes.ts` in order; the first that the user
 * is permitted applies.
 */
import { badRequest } from "../../../api/errors/api-error.ts";
import type { ApiError } from "../../../api/errors/api-error.ts";
import type { Exchange, Next, Stage } from "../../request/exchange.ts";
import { extraFrom, valuesOf } from "../../request/header-values.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { accessRefusal, attributesOf } from "./authorization.ts";
import type { AccessAttributes, AccessDecision, Authorizer } from "./authorizer.ts";
import { demandsOf, isConstrained, MODES, userOf } from "./impersonation-modes.ts";
import type { Demand, ImpersonationMode, RequestedUser } from "./impersonation-modes.ts";

const PREFIX = "impersonate-";
const EXTRA_PREFIX = "impersonate-extra-";

/** Upstream's bound: about 1 MB. */
const REMEMBERED_MAX = 10_000;

export function impersonate(authorizer: Authorizer): Stage {
  const lastModes = new LastModes();
  return (exchange, next) =>
    isAsked(exchange.request) ? actAs(exchange, next, { authorizer, lastModes }) : next(exchange);
}

/** Fast path: most requests have no impersonation headers. */
function isAsked({ headers }: AcceptedRequest): boolean {
  for (const name of headers.keys()) if (name.startsWith(PREFIX)) return true;
  return false;
}

interface ImpersonationParts {
  readonly authorizer: Authorizer;
  readonly lastModes: LastModes;
}

async function actAs(
  exchange: Exchange,
  next: Next,
  { authorizer, lastModes }: ImpersonationParts,
): Promise<HttpResponse> {
  const { request, user, notes } = exchange;
  if (user === undefined) throw new Error("impersonation must run after authentication");
  const requested = readRequestedUser(request);
  if (requested === undefined) return next(exchange);
  const mode = await chooseMode(requested, attributesOf(exchange), { authorizer, lastModes });
  notes.impersonated = userOf(mode, requested);
  if (isConstrained(mode)) notes.impersonationConstraint = mode.verb;
  return next({ ...exchange, user: notes.impersonated, impersonatedBy: user });
}

function readRequestedUser(request: AcceptedRequest): RequestedUser | undefined {
  const name = valuesOf(request, "impersonate-user")[0] ?? "";
  const uid = valuesOf(request, "impersonate-uid")[0] ?? "";
  const groups = valuesOf(request, "impersonate-group");
  const extra = extraFrom(request, EXTRA_PREFIX);
  if (name !== "") return { name, uid, groups, extra };
  if (uid === "" && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest("requested impersonation without impersonating a user name");
}

/** Rejects with the refusal of the first mode tried: the user's last successful mode, or the strictest. */
async function chooseMode(
  requested: RequestedUser,
  request: AccessAttributes,
  { authorizer, lastModes }: ImpersonationParts,
): Promise<ImpersonationMode> {
  const { user } = request;
  let first: ApiError | undefined;
  for (const mode of lastModes.order(user.name)) {
    if (!mode.appliesTo(requested, user)) continue;
    const refusal = await findRefusal(mode, demandsOf(mode, requested, request), authorizer);
    if (refusal === undefined) {
      lastModes.note(user.name, mode);
      return mode;
    }
    first ??= refusal;
  }
  throw first ?? new Error("the legacy impersonation mode applies to every request");
}

async function findRefusal(
  mode: ImpersonationMode,
  demands: Iterable<Demand>,
  authorizer: Authorizer,
): Promise<ApiError | undefined> {
  const ask = async (attributes: AccessAttributes): Promise<ApiError | undefined> => {
    const asked = mode.put(attributes);
    const decision = await authorizer.decide(asked);
    return decision.outcome === "allowed" ? undefined : accessRefusal(asked, whyNot(decision));
  };
  for (const { each, instead, refusal: reason } of demands) {
    if (instead !== undefined && (await ask(instead)) === undefined) continue;
    for (const attributes of each) {
      const refusal = reason === undefined ? await ask(attributes) : accessRefusal(attributes, reason);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

function whyNot({ reason, error }: AccessDecision): string {
  if (error === undefined) return reason;
  return reason === "" ? error : `${error}: ${reason}`;
}

/** Remembers each user's last successful mode, which is tried first, to save checks of the other modes. */
class LastModes {
  readonly #modes = new Map<string, ImpersonationMode>();

  *order(user: string): Iterable<ImpersonationMode> {
    const last = this.#modes.get(user);
    if (last !== undefined) yield last;
    for (const mode of MODES) if (mode !== last) yield mode;
  }

  note(user: string, mode: ImpersonationMode): void {
    this.#modes.delete(user);
    this.#modes.set(user, mode);
    const [oldest] = this.#modes.keys();
    if (this.#modes.size > REMEMBERED_MAX && oldest !== undefined) this.#modes.delete(oldest);
  }
}
