/**
 * Calls other servers over HTTP/1.1. `call` reads the whole response, for webhooks; `open` leaves the body as a
 * stream, for proxies.
 */
import type { IncomingMessage } from "node:http";
import type { Loop } from "../../base/loop/loop.ts";
import type { Store } from "../../store/store.ts";
import type { AddressOrigin } from "./address-check.ts";
import { CallGate } from "./call-gate.ts";
import { CallLimit } from "./call-limit.ts";
import { dialAddress, urlText } from "./dial-address.ts";
import { addressesOf, dial } from "./dial.ts";
import type { DialRequest } from "./dial.ts";
import { EgressError } from "./egress.ts";
import type { DialAddress, Egress, EgressReply, EgressRequest, EgressTarget } from "./egress.ts";
import { codeOf, CUT_TEXTS } from "./error-text.ts";
import { HostChoice } from "./host-choice.ts";
import type { ReceivedResponse } from "./outgoing-request.ts";
import { ServiceLookup } from "./service-lookup.ts";
import { TrustedAgents } from "./trusted-agents.ts";

export interface EgressParts {
  readonly loop: Loop;
  readonly store: Store;
}

export interface OpenEgress extends Egress {
  readonly services: ServiceLookup;
  /** Resolves with the head of the response; the caller reads or destroys the rest. Rejects with EgressError. */
  open(request: DialRequest): Promise<ReceivedResponse>;
  /** Prefers the first host that resolves to an address that the server may dial. */
  firstDialable(hosts: readonly string[], origin: AddressOrigin): Promise<string | undefined>;
  /** Ends all calls and connections. */
  close(): void;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function createEgress(parts: EgressParts): OpenEgress {
  return new Calls(parts);
}

class Calls implements OpenEgress {
  readonly services: ServiceLookup;
  readonly #loop: Loop;
  readonly #gate = new CallGate();
  readonly #agents = new TrustedAgents();
  readonly #hosts: HostChoice;

  constructor({ loop, store }: EgressParts) {
    this.#loop = loop.child("egress");
    this.#hosts = new HostChoice(this.#loop, addressesOf);
    this.services = new ServiceLookup({ store, random: this.#loop.random("endpoints") });
  }

  resolve(target: EgressTarget): DialAddress {
    return dialAddress(target, this.services);
  }

  async call(request: EgressRequest): Promise<EgressReply> {
    const limit = new CallLimit(this.#loop, request);
    try {
      await this.#permitted();
      return await this.#loop.outside("egress", this.#whole(request, limit));
    } catch (error) {
      const { method, target, path } = request;
      const verb = method.charAt(0) + method.slice(1).toLowerCase();
      const reason = limit.reason === undefined ? textOf(error) : CUT_TEXTS[limit.reason];
      throw new EgressError(`${verb} "${urlText(target, path)}": ${reason}`, { cause: error });
    } finally {
      limit.end();
    }
  }

  async open(request: DialRequest): Promise<ReceivedResponse> {
    try {
      await this.#permitted();
      return await this.#loop.outside("egress", dial(request, this.#agents));
    } catch (error) {
      const text = request.signal.aborted ? CUT_TEXTS.canceled : textOf(error);
      throw new EgressError(text, { cause: error });
    }
  }

  async firstDialable(hosts: readonly string[], origin: AddressOrigin): Promise<string | undefined> {
    await this.#permitted();
    return this.#loop.outside("egress", this.#hosts.first(hosts, origin));
  }

  close(): void {
    this.#agents.close();
  }

  /** A simulated loop that forbids calls fails here, before a byte is sent. */
  #permitted(): Promise<void> {
    return this.#loop.outside("egress", Promise.resolve());
  }

  async #whole(request: EgressRequest, limit: CallLimit): Promise<EgressReply> {
    const { target, trust, method, path, headers, body, timeoutMs, replyBytesMax } = request;
    const { signal } = limit;
    const address = this.resolve(target);
    const leave = await this.#gate.enter(address.authority, signal);
    try {
      const { answer } = await dial(
        {
          address,
          origin: "configured",
          trust,
          pair: request.pair,
          method,
          path,
          headers: body === undefined ? headers : { ...headers, "content-length": String(body.byteLength) },
          body,
          mayUpgrade: false,
          isRepeatable: request.isRepeatable ?? READS.has(method),
          signal,
          // In a simulation whose clock stands still during the call, only this timeout ends it.
          silenceMs: timeoutMs,
        },
        this.#agents,
      );
      return await wholeReply(answer, replyBytesMax);
    } finally {
      leave();
    }
  }
}

/** Reads the body up to `maxBytes`. A longer response closes its connection. */
async function wholeReply(answer: IncomingMessage, maxBytes: number): Promise<EgressReply> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new EgressError(`the answer is longer than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(answer.headers))
    headers.set(name, Array.isArray(value) ? value.join(", ") : (value ?? ""));
  return { status: answer.statusCode ?? 0, headers, body: Buffer.concat(pieces, bytes) };
}

function textOf(error: unknown): string {
  if (error instanceof EgressError) return error.message;
  const { name, message } = error as Error;
  // The simulated loop's own message names the forbidden call.
  if (name === "DeterminismViolation") return message;
  return codeOf(error) === "ESILENT" ? CUT_TEXTS.deadline : "unexpected EOF";
}
