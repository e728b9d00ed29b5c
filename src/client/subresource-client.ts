/** Operations on a subresource that has a body of its own. */
import type { ApiObject } from "../api/api-object.ts";
import type { CallOptions, Patch, Reference, SubresourceClient, WriteOptions } from "./client.ts";
import { patchBody, patchMediaType } from "./patch-body.ts";

export interface SubresourceCall<T extends ApiObject> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly reference: Reference<T>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly options: WriteOptions;
}

export class Subresource<T extends ApiObject> implements SubresourceClient<T> {
  readonly #send: (call: SubresourceCall<T>) => Promise<unknown>;

  constructor(send: (call: SubresourceCall<T>) => Promise<unknown>) {
    this.#send = send;
  }

  get(reference: Reference<T>, options: CallOptions = {}): Promise<unknown> {
    return this.#send({ method: "GET", reference, options });
  }

  create(reference: Reference<T>, body: unknown, options: WriteOptions = {}): Promise<unknown> {
    return this.#send({ method: "POST", reference, body, options });
  }

  update(reference: Reference<T>, body: unknown, options: WriteOptions = {}): Promise<unknown> {
    return this.#send({ method: "PUT", reference, body, options });
  }

  patch(reference: Reference<T>, patch: Patch, options: WriteOptions = {}): Promise<unknown> {
    const contentType = patchMediaType(patch);
    return this.#send({ method: "PATCH", reference, body: patchBody(patch), contentType, options });
  }
}
