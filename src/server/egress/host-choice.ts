/**
 * Chooses which of a server's names and addresses is dialled: the first address, or the first name that resolves to an
 * address that this server may dial. A name that does not resolve, or not in time, is passed over for a while, so that
 * a resolver without an answer delays a few requests and not every one.
 */
import { isIP } from "node:net";
import type { Loop } from "../../base/loop/loop.ts";
import { isDialable } from "./address-check.ts";
import type { AddressOrigin } from "./address-check.ts";

/** The addresses of a name. Rejects if it has none. */
export type NameLookup = (name: string) => Promise<readonly string[]>;

/** Wait for a name's addresses. Resolvers that cannot be reached take 5 to 12 seconds to fail. */
const LOOKUP_MS = 1000;
/** Time in which a name is passed over. */
const PASSED_OVER_MS = 60_000;

interface Lookup {
  /** Whether the name resolves to an address that may be dialled; false after `LOOKUP_MS`. */
  readonly isUsable: Promise<boolean>;
  /** End of the time in which the result holds. Set when the lookup fails or is late. */
  until: number;
}

export class HostChoice {
  readonly #loop: Loop;
  readonly #lookup: NameLookup;
  /** Lookups that run, and names that are passed over. */
  readonly #lookups = new Map<string, Lookup>();
  /** Lookups that are late: each holds one of the few threads that resolve names. */
  #late = 0;

  constructor(loop: Loop, lookup: NameLookup) {
    this.#loop = loop;
    this.#lookup = lookup;
  }

  /** Returns the first host if none can be dialled: the error of the connection then says why. */
  async first(hosts: readonly string[], origin: AddressOrigin): Promise<string | undefined> {
    for (const host of hosts) if (isIP(host) !== 0 || (await this.#isUsable(host, origin))) return host;
    return hosts[0];
  }

  #isUsable(name: string, origin: AddressOrigin): Promise<boolean> | boolean {
    const now = this.#loop.now();
    const known = this.#lookups.get(name);
    if (known !== undefined && now < known.until) return known.isUsable;
    if (this.#late > 0) return false;
    for (const [other, { until }] of this.#lookups) if (now >= until) this.#lookups.delete(other);
    return this.#begin(name, origin).isUsable;
  }

  #begin(name: string, origin: AddressOrigin): Lookup {
    const found = this.#lookup(name).then(
      (addresses) => addresses.some((address) => isDialable(address, origin)),
      () => false,
    );
    const begun: Lookup = { isUsable: this.#inTime(found), until: Infinity };
    this.#lookups.set(name, begun);
    void begun.isUsable.then((isUsable) => {
      if (isUsable) this.#lookups.delete(name);
      else begun.until = this.#loop.now() + PASSED_OVER_MS;
    });
    return begun;
  }

  /** The result, or false when it is late. */
  #inTime(found: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve) => {
      let isLate = false;
      const limit = this.#loop.timer(this.#loop.now() + LOOKUP_MS, "periodic", () => {
        isLate = true;
        this.#late += 1;
        resolve(false);
      });
      void found.then((isUsable) => {
        limit.cancel();
        if (isLate) this.#late -= 1;
        resolve(isUsable);
      });
    });
  }
}
