/**
 * Current credentials of a client: how it verifies the server and authenticates. All of them may change while the
 * program runs.
 */
import type { Loop } from "../../base/loop/loop.ts";
import type { Endpoint, EndpointUser, TextSource } from "../endpoint.ts";
import { ExecRunner } from "./exec-runner.ts";
import { TextReader } from "./text-reader.ts";

export interface CurrentCredentials {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly token: string | undefined;
}

export class Credentials {
  readonly #ca: TextReader | undefined;
  readonly #cert: TextReader | undefined;
  readonly #key: TextReader | undefined;
  readonly #token: TextReader | undefined;
  readonly #exec: ExecRunner | undefined;
  readonly #source: EndpointUser["tokenSource"];

  constructor(endpoint: Endpoint, loop: Loop) {
    const { ca, user: { certificate, key, token, exec, tokenSource } = {} } = endpoint;
    this.#source = tokenSource;
    const reader = (source: TextSource | undefined, role: string): TextReader | undefined =>
      source && new TextReader(source, role, loop);
    this.#ca = reader(ca, "the certificate of the server's authority");
    this.#cert = reader(certificate, "the client's certificate");
    this.#key = reader(key, "the client's key");
    this.#token = reader(token, "the bearer token");
    const readCa = async (): Promise<string | undefined> => this.#ca?.read();
    this.#exec = exec && new ExecRunner({ plugin: exec, endpoint, loop, readCa });
  }

  async current(refused?: CurrentCredentials): Promise<CurrentCredentials> {
    const [ca, cert, key, token, exec] = await Promise.all([
      this.#ca?.read(),
      this.#cert?.read(),
      this.#key?.read(),
      this.#bearer(refused?.token),
      this.#exec?.current(),
    ]);
    const pair = exec?.cert === undefined ? { cert, key } : { cert: exec.cert, key: exec.key };
    return { ca, ...pair, token: exec?.token ?? token };
  }

  async #bearer(refused: string | undefined): Promise<string | undefined> {
    return this.#source === undefined ? this.#token?.read() : this.#source(refused);
  }

  close(): void {
    this.#exec?.close();
  }

  /** Reads the credentials again after a 401. Undefined when they have not changed. */
  async renewed(refused: CurrentCredentials): Promise<CurrentCredentials | undefined> {
    for (const reader of [this.#cert, this.#key, this.#token]) reader?.expire();
    this.#exec?.refused(refused);
    const credentials = await this.current(refused);
    return credentials.token === refused.token && credentials.cert === refused.cert ? undefined : credentials;
  }
}
