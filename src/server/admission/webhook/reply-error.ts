/** Error text for a webhook response that is not a review, in the words of Kubernetes' client. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import { quoted } from "../../../api/values/message-text.ts";
import type { EgressReply } from "../../egress/egress.ts";

/** Upper bound of a quoted server text: characters of a Status message, bytes of plain text. */
const TEXT_BYTES_MAX = 2048;

const TEXTS: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [
    504,
    "the server was unable to return a response in the time allotted, but may still be processing the request",
  ],
]);

/** Undefined if the response may be a review. Redirects are not followed, so they count as errors. */
export function replyErrorText(reply: EgressReply): string | undefined {
  const { status } = reply;
  if (status >= 200 && status <= 206) return undefined;
  const said = statusMessage(reply);
  if (said !== undefined) return said;
  const known = TEXTS.get(status);
  if (known !== undefined) return known;
  if (status === 403 || status === 406 || status === 415) return plainText(reply);
  if (status >= 500)
    return `an error on the server (${quoted(plainText(reply))}) has prevented the request from succeeding`;
  return `the server responded with the status code ${String(status)} but did not return more information`;
}

/** Message of a Status object, if the server sent one. */
function statusMessage({ body, headers }: EgressReply): string | undefined {
  if (headers.get("content-type")?.startsWith("application/json") !== true) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    if (!isJsonObject(value) || value["kind"] !== "Status" || typeof value["message"] !== "string")
      return undefined;
    return value["message"].slice(0, TEXT_BYTES_MAX);
  } catch {
    return undefined;
  }
}

function plainText({ body, headers }: EgressReply): string {
  const type = headers.get("content-type") ?? "";
  if (type !== "" && !type.startsWith("text/")) return "unknown";
  return Buffer.from(body.subarray(0, TEXT_BYTES_MAX)).toString().trim();
}
