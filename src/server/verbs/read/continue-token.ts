/** Continue token of a paged list: key, revision and start time. Opaque to clients, encoded like upstream's. */
import { badRequest } from "../../../api/errors/api-error.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";

export interface ContinueToken {
  /** -1: the newest revision, for a list whose own revision has expired. */
  readonly revision: number;
  /** First key of the next page, without the resource's prefix. */
  readonly start: string;
  /** Start of the list in milliseconds since the epoch. `undefined` in tokens of servers that do not record it. */
  readonly since: number | undefined;
}

const VERSION = "meta.k8s.io/v1";

export function encodeContinue({ revision, start, since }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start, since })).toString("base64url");
}

export function decodeContinue(text: string): ContinueToken {
  const { v = "", rv = 0, start = "", since } = parse(text);
  // The error for a member of the wrong type does not name the member.
  if (typeof v !== "string" || typeof start !== "string" || !isRevision(rv)) throw notValid();
  if (v !== VERSION) throw notValid(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw notValid(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (start === "") throw notValid(`encoded start key empty (version ${VERSION})`);
  if (!isSafeStart(start)) throw notValid(start);
  return { revision: rv, start, since: typeof since === "number" ? since : undefined };
}

function isRevision(rv: unknown): rv is number {
  return typeof rv === "number" && Number.isSafeInteger(rv) && rv >= -1;
}

interface Members {
  readonly v?: unknown;
  readonly rv?: unknown;
  readonly start?: unknown;
  readonly since?: unknown;
}

function parse(text: string): Members {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return isJsonObject(value) ? value : {};
  } catch {
    throw notValid();
  }
}

/** A token must not lead out of the resource's own keys. */
function isSafeStart(start: string): boolean {
  return !start.startsWith("/") && !start.split("/").includes("..");
}

function notValid(why = ""): Error {
  return badRequest(`invalid continue token: continue key is not valid${why === "" ? "" : `: ${why}`}`);
}
