/** Builds the target and the headers of an HTTP request. */
import type { OutgoingHttpHeaders } from "node:http";
import { isCause } from "../../api/causes/cause-text.ts";
import { acceptedMediaType } from "../accepted-form.ts";
import type { CurrentCredentials } from "../credentials/credentials.ts";
import type { Impersonation } from "../endpoint.ts";
import type { TransportRequest } from "../transport.ts";

/** How the body of the response is read. */
export type BodyFormat = "value" | "events" | "bytes";

/** Path and query of a request. */
export function targetOf({ path, query = {} }: TransportRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of typeof values === "string" ? [values] : values) parameters.append(name, value);
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

export interface HeadOptions {
  readonly reading: BodyFormat;
  readonly credentials: CurrentCredentials;
  readonly impersonation: Impersonation | undefined;
  readonly bodyBytes: number | undefined;
}

export function headersOf(request: TransportRequest, options: HeadOptions): OutgoingHttpHeaders {
  const { userAgent, cause, contentType = "application/json" } = request;
  const { reading, credentials, impersonation, bodyBytes } = options;
  return {
    accept: acceptOf(request, reading),
    // Compression would delay events, and bytes are passed on unchanged.
    "accept-encoding": reading === "value" ? "gzip" : "identity",
    ...(userAgent !== undefined && { "user-agent": userAgent }),
    ...identityHeaders(credentials, impersonation),
    ...(cause !== undefined && isCause(cause) && { "setpoint-cause": cause }),
    ...(bodyBytes !== undefined && { "content-type": contentType, "content-length": bodyBytes }),
  };
}

function acceptOf(request: TransportRequest, reading: BodyFormat): string {
  const accepted = acceptedMediaType(request);
  if (accepted !== undefined) return accepted;
  return reading === "events" ? "application/json" : "application/json, */*";
}

type IdentityHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Headers that authenticate a request, and name the user to act as. */
export function identityHeaders(
  { token }: CurrentCredentials,
  impersonation: Impersonation | undefined,
): IdentityHeaders {
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(impersonation !== undefined && impersonationHeaders(impersonation)),
  };
}

function impersonationHeaders({ user, groups, uid, extra }: Impersonation): IdentityHeaders {
  const headers: Record<string, string | readonly string[]> = { "impersonate-user": user };
  if (groups.length > 0) headers["impersonate-group"] = [...groups];
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key)}`] = [...values];
  }
  return headers;
}
