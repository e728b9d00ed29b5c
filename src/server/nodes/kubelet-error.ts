/** Errors of a kubelet as a Status, as upstream's server words them. */
import { badRequest, DeniedError, internalError } from "../../api/errors/api-error.ts";
import type { ApiError } from "../../api/errors/api-error.ts";

interface Wording {
  readonly reason: string;
  readonly message: string;
}

const WORDINGS: Readonly<Record<number, Wording>> = {
  401: {
    reason: "Unauthorized",
    message: "the server has asked for the client to provide credentials",
  },
  404: { reason: "NotFound", message: "the server could not find the requested resource" },
  405: {
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
  },
  429: {
    reason: "TooManyRequests",
    message: "the server has received too many requests and has asked us to try again later",
  },
  503: {
    reason: "ServiceUnavailable",
    message: "the server is currently unable to handle the request",
  },
  504: {
    reason: "Timeout",
    message:
      "the server was unable to return a response in the time allotted, but may still be processing the request",
  },
};

/** `about` is the resource and name of the request, such as `pods/log web`. */
export function kubeletError(status: number, text: string, about: readonly [string, string]): ApiError {
  if (status === 500) return internalError(new Error(text));
  if (status === 400) return badRequest(text);
  const { reason, message } = WORDINGS[status] ?? unknownWording(status, text);
  const [kind, name] = about;
  const causes = [{ reason: "UnexpectedServerResponse", message: text }];
  const details = { name, kind, ...(status === 404 && { causes }) };
  return new DeniedError(`${message} ( ${kind} ${name})`, { code: status, servedReason: reason, details });
}

function unknownWording(status: number, text: string): Wording {
  if (status === 403) return { reason: "Forbidden", message: text };
  if (status < 500)
    return {
      reason: "Unknown",
      message: `the server responded with the status code ${status} but did not return more information`,
    };
  const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  return { reason: "InternalError", message };
}
