/** A caller with an identity: user agent, field manager, cause and signals. */
import type { Caller, CallRequest } from "./caller.ts";
import type { CallOptions, ClientIdentity, UnknownWrite, WriteResult } from "./client.ts";
import { isRefusal } from "./response-error.ts";
import type { TransportEvent } from "./transport.ts";

export interface CallerIdentity extends Omit<ClientIdentity, "signal"> {
  /** Signals of the client and its parents. Each of them aborts the calls. */
  readonly signals: readonly AbortSignal[];
  readonly userAgent: string;
  /** Namespace of objects that name none. */
  readonly namespace: string;
}

type Request = Omit<CallRequest, "signals" | "userAgent" | "cause">;

export class IdentifiedCaller {
  readonly #caller: Caller;
  readonly #identity: CallerIdentity;

  constructor(caller: Caller, identity: CallerIdentity) {
    this.#caller = caller;
    this.#identity = identity;
  }

  /** The same caller with another identity; omitted fields keep their values. */
  with({ signal, ...others }: ClientIdentity): IdentifiedCaller {
    const { signals } = this.#identity;
    const more = signal === undefined ? signals : [...signals, signal];
    return new IdentifiedCaller(this.#caller, { ...this.#identity, ...others, signals: more });
  }

  get namespace(): string {
    return this.#identity.namespace;
  }

  get fieldManager(): string | undefined {
    return this.#identity.fieldManager;
  }

  /** Field manager of an apply, which requires one. Default: the program's name in the user agent. */
  get applyManager(): string {
    const { fieldManager, userAgent } = this.#identity;
    return fieldManager ?? userAgent.split("/", 1)[0] ?? userAgent;
  }

  send(request: Request, options: CallOptions): Promise<unknown> {
    return this.#caller.send(this.#named(request, options));
  }

  watch(request: Request, options: CallOptions): Promise<AsyncIterable<readonly TransportEvent[]>> {
    return this.#caller.watch(this.#named(request, options));
  }

  read(request: Request, options: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    return this.#caller.read(this.#named(request, options));
  }

  reportWrite(written: WriteResult): void {
    this.#identity.onWrite?.(written);
  }

  /** Reports a failed write unless the server refused it. */
  reportFailure(write: UnknownWrite, error: unknown): void {
    if (!isRefusal(error)) this.#identity.onUnknown?.(write);
  }

  /** Reports an object that was read by name. */
  reportRead(read: WriteResult): void {
    this.#identity.onRead?.(read);
  }

  #named(request: Request, { signal }: CallOptions): CallRequest {
    const { userAgent, cause, signals } = this.#identity;
    const { method, path, query, body, contentType, form } = request;
    const named: { -readonly [Member in keyof CallRequest]: CallRequest[Member] } = {
      method,
      path,
      userAgent,
      signals: signal === undefined ? signals : [...signals, signal],
    };
    if (query !== undefined) named.query = query;
    if (body !== undefined) named.body = body;
    if (contentType !== undefined) named.contentType = contentType;
    if (form !== undefined) named.form = form;
    if (cause !== undefined && method !== "GET") named.cause = typeof cause === "string" ? cause : cause();
    return named;
  }
}
