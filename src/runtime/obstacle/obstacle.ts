/** Failures of requests that last until a person acts: what is wrong, and the command that mends it. Pure. */
import type { ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { groupOf } from "../refs/owner-reference.ts";

export interface Obstacle {
  /** Equal for failures that have the same cause. */
  readonly about: string;
  /** `the server does not serve Thermostat.example.com`. */
  readonly what: string;
  /** Command that mends it. `MODULE` and `FILE` stand for paths of the user. */
  readonly remedy: string;
}

/** The request that failed. */
export interface ObstacleContext {
  /** Controller or routine that needs the request. */
  readonly loop: string;
  /** Namespace to which the loop is restricted. */
  readonly namespace?: string | undefined;
  /** Kind that is watched; undefined for requests of a pass. */
  readonly type?: ResourceType;
}

/** Failure as a server or a transport reports it. */
export interface RequestFailure {
  /** HTTP status; undefined without a response. */
  readonly code: number | undefined;
  readonly message: string;
  /** Group and plural of the resource, when an error names them. */
  readonly resource?: { readonly group: string; readonly plural: string };
}

/** Message of a transport without a response. */
const NO_RESPONSE = /^no response from (\S+): /;
/** Message of authorizers; the user has no quotes. */
const REFUSAL =
  /User "(?<user>[^"]+)" cannot (?<verb>\S+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)"/;
const ACCOUNT = /^system:serviceaccount:(?<namespace>[^:]+):(?<name>[^:]+)$/;
/** Characters that a shell leaves alone. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

const READ = ["get", "list", "watch"];
/** Verbs that are granted together, so that the next request is not refused for the next verb. */
const GRANTS = {
  read: { name: "read", verbs: READ },
  write: { name: "write", verbs: ["create", "delete", "patch", "update"] },
  part: { name: "part", verbs: ["get", "patch", "update"] },
};

/** The failure of a request as its caller sees it; undefined for an error that no request caused. */
export function findRequestFailure(error: unknown): RequestFailure | undefined {
  if (!isApiError(error)) return undefined;
  const { code, message, details } = error;
  if (error.reason === "ServiceUnavailable") return { code: undefined, message };
  const { group = "", kind, name } = details ?? {};
  if (kind === undefined || name !== undefined) return { code, message };
  return { code, message, resource: { group, plural: kind } };
}

/** Undefined for a failure that may pass by itself, or that is the fault of the request. */
export function findObstacle(failure: RequestFailure, context: ObstacleContext): Obstacle | undefined {
  switch (failure.code) {
    case undefined:
      return unreachable(failure);
    case 401:
      return {
        about: "credentials",
        what: "the server does not accept the credentials",
        remedy: "kubectl auth whoami",
      };
    case 403:
      return forbidden(failure, context);
    case 404:
      return unserved(failure, context);
    default:
      return undefined;
  }
}

function unreachable({ message }: RequestFailure): Obstacle | undefined {
  const server = NO_RESPONSE.exec(message)?.[1];
  if (server === undefined) return undefined;
  const { hostname } = new URL(server);
  const isHere = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  const remedy = isHere ? "setpoint up" : `kubectl --server ${server} get --raw /readyz`;
  return { about: `server ${server}`, what: message, remedy };
}

function forbidden({ message }: RequestFailure, { loop, namespace }: ObstacleContext): Obstacle | undefined {
  const { user, verb = "", resource = "", group = "" } = REFUSAL.exec(message)?.groups ?? {};
  if (user === undefined) return undefined;
  const grant = grantFor(verb, resource);
  const verbs = grant.verbs.join();
  const target = resource.replace(/^[^/]+/, (plural) => (group === "" ? plural : `${plural}.${group}`));
  const name = `${loop}-${resource.replace("/", "-")}-${grant.name}`;
  const binding = namespace === undefined ? "clusterrolebinding" : `rolebinding --namespace ${namespace}`;
  return {
    about: `${user} ${verbs} ${target}`,
    what: `user ${user} may not ${verb} ${target}`,
    remedy:
      `kubectl create clusterrole ${name} --verb=${verbs} --resource=${target} && ` +
      `kubectl create ${binding} ${name} --clusterrole=${name} ${subjectFlag(user)}`,
  };
}

function grantFor(verb: string, resource: string): (typeof GRANTS)[keyof typeof GRANTS] {
  if (resource.includes("/")) return GRANTS.part;
  return READ.includes(verb) ? GRANTS.read : GRANTS.write;
}

function subjectFlag(user: string): string {
  const { namespace, name } = ACCOUNT.exec(user)?.groups ?? {};
  if (namespace !== undefined) return `--serviceaccount=${namespace}:${String(name)}`;
  return PLAIN_WORD.test(user) ? `--user=${user}` : `--user='${user.replaceAll("'", String.raw`'\''`)}'`;
}

function unserved({ resource }: RequestFailure, { type }: ObstacleContext): Obstacle | undefined {
  if (type !== undefined) {
    const { apiVersion, kind } = type;
    const about = `${kind} of ${apiVersion}`;
    const remedy = remedyOfKind(groupOf(apiVersion), isDefined(type) ? "defined" : "other");
    return { about, what: `the server does not serve ${about}`, remedy };
  }
  if (resource === undefined) return undefined;
  const { group, plural } = resource;
  const about = group === "" ? plural : `${plural}.${group}`;
  return {
    about,
    what: `the server does not serve ${about}`,
    remedy: remedyOfKind(group, "other"),
  };
}

function remedyOfKind(group: string, origin: "defined" | "other"): string {
  if (origin === "defined") return "setpoint crd MODULE | kubectl apply -f -";
  // Groups of Kubernetes: the server is older, or the version is turned off.
  if (!group.includes(".") || group.endsWith(".k8s.io")) return `kubectl api-resources --api-group=${group}`;
  return "kubectl apply -f FILE with its CustomResourceDefinition";
}

/** True for a kind that `defineResource` made: its module has the CustomResourceDefinition. */
function isDefined(type: ResourceType): boolean {
  return "definition" in type;
}
