/**
 * Input and output of exec plugins (client.authentication.k8s.io; v1 and v1beta1 are equal here).
 * A plugin never gets a terminal, because the client cannot answer its prompts.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Endpoint, ExecPlugin } from "../endpoint.ts";

export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; undefined when it is valid until the server rejects it. */
  readonly expiresAt: number | undefined;
}

/** Value of the variable KUBERNETES_EXEC_INFO. */
export function execInfo(plugin: ExecPlugin, endpoint: Endpoint, ca: string | undefined): string {
  const { apiVersion, provideClusterInfo } = plugin;
  const spec = { interactive: false, ...(provideClusterInfo && { cluster: clusterInfo(endpoint, ca) }) };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
}

function clusterInfo({ server, tlsServerName, verification }: Endpoint, ca: string | undefined): JsonObject {
  return {
    server,
    ...(tlsServerName !== undefined && { "tls-server-name": tlsServerName }),
    ...(verification === "none" && { "insecure-skip-tls-verify": true }),
    ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
  };
}

/** Throws an Error whose message completes "the plugin failed: …". */
export function parseExecCredential(text: string, { apiVersion }: ExecPlugin): ExecCredential {
  const output = parseOutput(text);
  if (output["kind"] !== "ExecCredential" || output["apiVersion"] !== apiVersion) {
    const found = `${String(output["kind"])} of ${String(output["apiVersion"])}`;
    throw new Error(`it must return an ExecCredential of ${apiVersion}, found ${found}`);
  }
  const status = isJsonObject(output["status"]) ? output["status"] : {};
  const token = textOf(status["token"]);
  const cert = textOf(status["clientCertificateData"]);
  const key = textOf(status["clientKeyData"]);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("it must return both clientCertificateData and clientKeyData, or neither");
  }
  if (token === undefined && cert === undefined) {
    throw new Error("it returned neither a token nor a certificate");
  }
  return {
    ...(token !== undefined && { token }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    expiresAt: timeOf(textOf(status["expirationTimestamp"])),
  };
}

function parseOutput(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error("its output is not a JSON object");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Error(`${JSON.stringify(text)} is not a valid expirationTimestamp`);
  return at;
}
