/**
 * Reads a cluster and a user of a kubeconfig. Unsupported settings are errors: ignoring them would connect in another
 * way than asked.
 */
import type { Endpoint, EndpointUser, ExecPlugin, Impersonation } from "./endpoint.ts";
import type { KubeconfigFields } from "./kubeconfig-fields.ts";

export function readCluster(fields: KubeconfigFields): Omit<Endpoint, "user"> {
  if (fields.findText("proxy-url") !== undefined) {
    throw fields.wrong("proxy-url", "is not supported: connect to the server directly");
  }
  const server = fields.text("server");
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    throw fields.wrong(
      "server",
      `must be a URL such as https://127.0.0.1:6443, found ${JSON.stringify(server)}`,
    );
  }
  const ca = fields.findSource("certificate-authority");
  const tlsServerName = fields.findText("tls-server-name");
  const isUnverified = fields.isSet("insecure-skip-tls-verify");
  if (isUnverified && ca !== undefined) {
    throw fields.wrong(
      "insecure-skip-tls-verify",
      "makes no sense beside a certificate-authority: remove one of them",
    );
  }
  return {
    server,
    ...(ca !== undefined && { ca }),
    ...(tlsServerName !== undefined && { tlsServerName }),
    ...(isUnverified && { verification: "none" }),
  };
}

export function readUser(fields: KubeconfigFields): EndpointUser {
  refuseOldWays(fields);
  const certificate = fields.findSource("client-certificate");
  const key = fields.findSource("client-key");
  if (certificate !== undefined && key === undefined) {
    throw fields.wrong("client-key", "is missing beside client-certificate");
  }
  if (key !== undefined && certificate === undefined) {
    throw fields.wrong("client-certificate", "is missing beside client-key");
  }
  // Like kubectl: a token file wins over a literal token, since the file may be rotated.
  const given = fields.findText("token");
  const token = fields.findFile("tokenFile") ?? (given === undefined ? undefined : { text: given });
  const exec = fields.findWithin("exec");
  const impersonation = findImpersonation(fields);
  return {
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
    ...(token !== undefined && { token }),
    ...(exec !== undefined && { exec: readExec(exec) }),
    ...(impersonation !== undefined && { impersonation }),
  };
}

function refuseOldWays(fields: KubeconfigFields): void {
  if (fields.findText("username") !== undefined || fields.findText("password") !== undefined) {
    throw fields.wrong(
      "username",
      "and password are not supported: use a token, a certificate or an exec plugin",
    );
  }
  if (fields.findWithin("auth-provider") !== undefined) {
    throw fields.wrong("auth-provider", "is not supported; Kubernetes removed it too: use an exec plugin");
  }
}

const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;

function readExec(fields: KubeconfigFields): ExecPlugin {
  const found = fields.text("apiVersion");
  const apiVersion = VERSIONS.find((version) => version === found);
  if (apiVersion === undefined) {
    throw fields.wrong("apiVersion", `must be ${VERSIONS.join(" or ")}, found ${JSON.stringify(found)}`);
  }
  if (fields.findText("interactiveMode") === "Always") {
    throw fields.wrong(
      "interactiveMode",
      "must not be Always: this client cannot answer the plugin's prompts",
    );
  }
  const command = fields.text("command");
  const installHint = fields.findText("installHint");
  const variables = fields.listOf("env").map((entry) => [entry.text("name"), entry.findText("value") ?? ""]);
  return {
    apiVersion,
    // A bare name is searched on PATH; a path is relative to the kubeconfig.
    command: /[/\\]/.test(command) ? fields.resolved(command) : command,
    args: fields.texts("args"),
    env: Object.fromEntries(variables) as Record<string, string>,
    provideClusterInfo: fields.isSet("provideClusterInfo"),
    ...(installHint !== undefined && { installHint }),
  };
}

function findImpersonation(fields: KubeconfigFields): Impersonation | undefined {
  const user = fields.findText("as");
  if (user === undefined) return undefined;
  const uid = fields.findText("as-uid");
  const extra = fields.findWithin("as-user-extra");
  const values = (extra?.names() ?? []).map((name) => [name, extra?.texts(name) ?? []] as const);
  return {
    user,
    groups: fields.texts("as-groups"),
    ...(uid !== undefined && { uid }),
    extra: Object.fromEntries(values),
  };
}
