/** Where a list in pieces goes on: after which key, at which revision, since when. Opaque to clients, in upstream's form. */
import { badRequest } from "../../../api/errors/api-error.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";

export interface ContinueToken {
  /** -1: at the newest revision, for a list whose own has expired. */
  readonly revision: number;
  /** The key after the resource's prefix from which to go on. */
  readonly start: string;
  /** When the list began, in milliseconds; `undefined` when another server says nothing of it. */
  readonly since: number | undefined;
}

const VERSION = "meta.k8s.io/v1";

export function encodeContinue({ revision, start, since }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start, since })).toString("base64url");
}

export function decodeContinue(text: string): ContinueToken {
  const { v = "", rv = 0, start = "", since } = parse(text);
  // What has another type than it should is told without saying which.
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

/** A token cannot lead out of the resource's own keys. */
function isSafeStart(start: string): boolean {
  return !start.startsWith("/") && !start.split("/").includes("..");
}

function notValid(why = ""): Error {
  return badRequest(`invalid continue token: continue key is not valid${why === "" ? "" : `: ${why}`}`);
}
