/**
 * /statusz: start, uptime and version of the server, as text for people or as a `Statusz` of `config.k8s.io`. The text has
 * no stable format.
 */
import { notAcceptable } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { timeText } from "../../api/values/time.ts";
import { stringifyYaml } from "../../api/yaml/yaml-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Route } from "../request/exchange.ts";
import type { HttpResponse } from "../request/http.ts";
import { asksFor, parseAccept } from "../request/media-type.ts";
import type { AcceptClause } from "../request/media-type.ts";
import { API_VERSION, GIT_VERSION, versionInfo } from "./discovery/version.ts";

const COMPONENT = "kube-apiserver";
const TEXT = "text/plain";
const STRUCTURED = ["application/json", "application/yaml"] as const;
const VERSIONS = ["v1beta1", "v1alpha1"] as const;
const DEPRECATED = `299 - "This version of the statusz endpoint is deprecated. Please use a newer version."`;
/** Paths for debugging; those of the API are in discovery. */
const PATHS = ["/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"];

interface Form {
  readonly type: (typeof STRUCTURED)[number] | typeof TEXT;
  readonly version: (typeof VERSIONS)[number];
}

export function statuszRoute(loop: Loop): Route {
  const startedAt = loop.now();
  return ({ info, request }) => {
    if (info.type !== "other" || info.path !== "/statusz") return undefined;
    const form = findForm(request.headers.get("accept") ?? "");
    if (form === undefined) throw notAcceptable([TEXT, ...STRUCTURED]);
    const uptimeSeconds = Math.floor((loop.now() - startedAt) / 1000);
    return Promise.resolve(responseOf(form, { startTime: timeText(startedAt), uptimeSeconds }));
  };
}

function findForm(accept: string): Form | undefined {
  if (accept.trim() === "") return { type: TEXT, version: VERSIONS[0] };
  for (const clause of parseAccept(accept)) {
    const form = formOf(clause);
    if (form !== undefined) return form;
  }
  return undefined;
}

function formOf(clause: AcceptClause): Form | undefined {
  const { parameters } = clause;
  const isPlain = !parameters.has("as") && !parameters.has("g") && !parameters.has("v");
  if (isPlain) return asksFor(clause, TEXT) ? { type: TEXT, version: VERSIONS[0] } : undefined;
  const isStatusz = parameters.get("as") === "Statusz" && parameters.get("g") === "config.k8s.io";
  const version = VERSIONS.find((known) => known === parameters.get("v"));
  const type = STRUCTURED.find((known) => asksFor(clause, known));
  return isStatusz && version !== undefined && type !== undefined ? { type, version } : undefined;
}

interface Uptime {
  readonly startTime: string;
  readonly uptimeSeconds: number;
}

function responseOf({ type, version }: Form, { startTime, uptimeSeconds }: Uptime): HttpResponse {
  const { goVersion = "" } = versionInfo() as Readonly<Record<string, string>>;
  const binaryVersion = GIT_VERSION.slice(1).replace(/\+.*/, "");
  const status: JsonObject = {
    kind: "Statusz",
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: COMPONENT },
    startTime,
    uptimeSeconds,
    goVersion,
    binaryVersion,
    emulationVersion: API_VERSION,
    paths: PATHS,
  };
  if (type === TEXT) return response(`${TEXT}; charset=utf-8`, textOf(status));
  const body = type === "application/yaml" ? stringifyYaml(status) : `${JSON.stringify(status)}\n`;
  const { headers, ...rest } = response(type, body);
  return {
    ...rest,
    headers: version === "v1alpha1" ? new Map([...headers, ["warning", DEPRECATED]]) : headers,
  };
}

function response(type: string, body: string): HttpResponse {
  return { status: 200, headers: new Map([["content-type", type]]), body: Buffer.from(body) };
}

function textOf(status: JsonObject): string {
  const lines = [
    ["Started", status["startTime"]],
    ["Up", uptimeText(status["uptimeSeconds"] as number)],
    ["Go version", status["goVersion"]],
    ["Binary version", status["binaryVersion"]],
    ["Emulation version", status["emulationVersion"]],
    ["Paths", PATHS.join(" ")],
  ];
  const warning =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for " +
    "debugging purposes only.";
  const shown = lines.map(([name, value]) => `${String(name)}: ${String(value)}\n`).join("");
  return `\n${COMPONENT} statusz\n${warning}\n\n${shown}`;
}

function uptimeText(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${String(Math.floor(seconds / 3600))} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
