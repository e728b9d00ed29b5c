/** Sends one HTTP GET request, as the kubelet's probes and hooks do. */
import { request as plainRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as tlsRequest } from "node:https";
import { connect as tlsConnect } from "node:tls";
import type { HTTPGetAction } from "../../api/generated/types/core-v1.ts";
import { OUTPUT_MAX, type CheckResult, type Dial } from "./check.ts";

export interface HttpTarget {
  readonly action: HTTPGetAction;
  readonly host: string;
  readonly port: number;
  readonly dial: Dial;
  /** Aborted at the time limit. */
  readonly signal: AbortSignal;
}

const AGENT = "kube-probe/1.36";
/** The kubelet follows redirects to the same host, up to this number. */
const REDIRECTS_MAX = 10;

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

export async function checkHttp(target: HttpTarget): Promise<CheckResult> {
  let url = urlOf(target);
  for (let left = REDIRECTS_MAX; left > 0; left--) {
    const { status, location, body } = await get(url, target);
    if (status < 200 || status >= 400)
      return { isSuccess: false, message: `HTTP probe failed with statuscode: ${String(status)}` };
    if (status < 300 || location === undefined) return { isSuccess: true, message: body };
    const next = new URL(location, url);
    // A redirect to another host counts as an answer.
    if (next.hostname !== url.hostname) return { isSuccess: true, message: body };
    url = next;
  }
  return { isSuccess: false, message: `stopped after ${String(REDIRECTS_MAX)} redirects` };
}

function urlOf({ action: { scheme = "HTTP", path = "/" }, host, port }: HttpTarget): URL {
  const shown = host.includes(":") ? `[${host}]` : host;
  const base = `${scheme.toLowerCase()}://${shown}:${String(port)}`;
  // Behind the host, so that a path such as //example.com names no other host.
  return new URL(`${base}${path.startsWith("/") ? "" : "/"}${path}`);
}

async function get(url: URL, { action, dial, signal }: HttpTarget): Promise<Answer> {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = await dial(host, Number(url.port === "" ? (isTls ? 443 : 80) : url.port));
  const headers = { "user-agent": AGENT, accept: "*/*", host: url.host, ...headersOf(action) };
  // A certificate says nothing about health.
  const secured = isTls ? tlsConnect({ socket, rejectUnauthorized: false }) : socket;
  const options: RequestOptions = {
    createConnection: () => secured,
    // No agent: a connection for each request.
    ...{ headers, path: url.pathname + url.search, signal },
  };
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const request = (isTls ? tlsRequest : plainRequest)(options, (response) => {
        readAnswer(response).then(resolve, reject);
      });
      request.once("error", reject);
      request.end();
    });
  } finally {
    socket.destroy();
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  let body = "";
  for await (const chunk of response) {
    body += String(chunk);
    if (body.length >= OUTPUT_MAX) break;
  }
  const { statusCode: status = 0, headers } = response;
  return { status, location: headers.location, body: body.slice(0, OUTPUT_MAX) };
}

/** An `Accept` or `User-Agent` header with an empty value removes the default, as with the kubelet. */
function headersOf({ httpHeaders = [] }: HTTPGetAction): Readonly<Record<string, string>> {
  return Object.fromEntries(httpHeaders.map(({ name, value }) => [name.toLowerCase(), value]));
}
