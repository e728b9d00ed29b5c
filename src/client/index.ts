/** `setpoint/client`: a typed client for Setpoint and any other Kubernetes. */
export { ApiError, isApiError } from "../api/errors/api-error.ts";
export type { ApiErrorReason, Status, StatusCause, StatusDetails } from "../api/errors/api-error.ts";
export type { ApiObject, Manifest, ObjectKey, ResourceType } from "../api/api-object.ts";
export { createRealLoop } from "../base/loop/real/real-loop.ts";
export type { Loop } from "../base/loop/loop.ts";
export { createClient } from "./api-client.ts";
export type { ClientOptions } from "./api-client.ts";
export type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientIdentity,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  LogOptions,
  ObjectList,
  Patch,
  PatchOptions,
  RawRequest,
  Reference,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  UnknownWrite,
  WriteResult,
} from "./client.ts";
export { connect } from "./connection.ts";
export type { Connection, ConnectOptions } from "./connection.ts";
export type { Endpoint, EndpointUser, ExecPlugin, Impersonation, TextSource } from "./endpoint.ts";
export { httpTransport } from "./http-transport.ts";
export type { HttpTransportOptions } from "./http-transport.ts";
export type { ServerDialer, ServerSocket } from "./http/server-socket.ts";
export { KubeconfigError } from "./kubeconfig-fields.ts";
export { loadKubeconfig } from "./kubeconfig-files.ts";
export type { KubeconfigSearch } from "./kubeconfig-files.ts";
export { parseKubeconfig, resolveContext } from "./kubeconfig.ts";
export type { Kubeconfig, KubeconfigContext, ResolvedContext } from "./kubeconfig.ts";
export { resourceType } from "./resource-type.ts";
export type { RetryOptions } from "./retry.ts";
export type { ThrottleOptions } from "./throttle.ts";
export type {
  Method,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
  WatchEventType,
} from "./transport.ts";
