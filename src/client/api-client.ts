/** The client, over any transport. */
import type { ApiObject, Manifest, ResourceType } from "../api/api-object.ts";
import { ApiError, isApiError } from "../api/errors/api-error.ts";
import { Caller } from "./caller.ts";
import type { CallerOptions } from "./caller.ts";
import type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientIdentity,
  RawRequest,
  ResourceClient,
} from "./client.ts";
import { IdentifiedCaller } from "./identified-caller.ts";
import { TypedClient } from "./resource-client.ts";
import { findBuiltInType, ServedTypes } from "./served-types.ts";
import type { KindName } from "./served-types.ts";
import type { Transport } from "./transport.ts";

/** Options of `createClient`. */
export interface ClientOptions extends CallerOptions {
  /**
   * Namespace of namespaced objects that name none. Default: `default`. Lists and watches without a namespace read
   * all namespaces.
   */
  readonly namespace?: string;
  /** `User-Agent` header, for example `my-operator/1.2`. Default: `setpoint`. */
  readonly userAgent?: string;
}

/** Makes a client over a transport. */
export function createClient(transport: Transport, options: ClientOptions): Client {
  const { namespace = "default", userAgent = "setpoint", ...callerOptions } = options;
  const caller = new Caller(transport, callerOptions);
  const identity = { signals: [], userAgent, namespace };
  return clientOf({ caller: new IdentifiedCaller(caller, identity), types: new ServedTypes() });
}

interface Parts {
  readonly caller: IdentifiedCaller;
  readonly types: ServedTypes;
}

function clientOf(parts: Parts): Client {
  const { caller, types } = parts;
  const typed = <T extends ApiObject>(type: ResourceType<T>): ResourceClient<T> =>
    new TypedClient(type, caller);
  return Object.assign(typed, {
    apply: (manifest: AnyManifest, options?: ApplyOptions) => applyAny(parts, manifest, options),
    with: (identity: ClientIdentity) => clientOf({ caller: caller.with(identity), types }),
    request: (request: RawRequest) => sendRaw(caller, request),
    findType: (apiVersion: string, kind: string) => findType(parts, { apiVersion, kind }),
  });
}

type AnyManifest = Manifest<ApiObject> & KindName;

async function applyAny(
  { caller, types }: Parts,
  manifest: AnyManifest,
  options: ApplyOptions = {},
): Promise<ApiObject> {
  const builtIn = findBuiltInType(manifest);
  const type = builtIn ?? (await findType({ caller, types }, manifest, options));
  if (type === undefined) throw unknownKind(manifest);
  try {
    return await new TypedClient(type, caller).apply(manifest, options);
  } catch (error) {
    // Apply creates a missing object, so NotFound concerns the kind: it is gone or served elsewhere.
    if (isApiError(error, "NotFound") && builtIn === undefined) types.forget(manifest.apiVersion);
    throw error;
  }
}

function findType(
  { caller, types }: Parts,
  name: KindName,
  options: CallOptions = {},
): Promise<ResourceType | undefined> {
  return types.find(name, (path) => caller.send({ method: "GET", path }, options));
}

async function sendRaw(caller: IdentifiedCaller, request: RawRequest): Promise<unknown> {
  const { method = "GET", signal, ...others } = request;
  return caller.send({ method, ...others }, signal === undefined ? {} : { signal });
}

function unknownKind({ apiVersion, kind }: KindName): ApiError {
  return new ApiError("NotFound", `the server serves no ${kind} in ${apiVersion}`);
}
