/**
 * The set of allocated node ports: one bit a port, in one key that every allocation compares. Two servers never
 * allocate the same port, and a Service with a hundred ports is one change. The format is kube-apiserver's
 * RangeAllocation: a big-endian number whose bit n stands for port `first + n`.
 */
import type { Service } from "../../../api/generated/types/core-v1.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import { parseJson } from "../../../api/json/json-scan.ts";
import type { Random } from "../../../base/loop/loop.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Change, Compare, Entry, View } from "../../../store/store.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { SERVICES } from "./address-claim.ts";

const ALLOCATION_KEY = "/registry/ranges/servicenodeports";

/** Both ends are included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** The lowest 1/32 (within bounds) is reserved for Services that ask for a fixed port, as upstream does. */
const RESERVED_MIN = 16;
const RESERVED_MAX = 128;
const RESERVED_SHARE = 32;

export interface AllocationDifference {
  /** Taken in the allocation, but used by no Service. */
  readonly leaked: readonly number[];
  /** Used by a Service, but free in the allocation. */
  readonly missing: readonly number[];
  /** Repairs the allocation; empty if the allocation is right. */
  readonly compare: readonly Compare[];
  readonly changes: readonly Change[];
}

export class PortAllocation {
  readonly #range: PortRange;
  readonly #entry: Entry | undefined;
  readonly #taken: Set<number>;
  #isChanged = false;

  private constructor(range: PortRange, entry: Entry | undefined, taken: Set<number>) {
    this.#range = range;
    this.#entry = entry;
    this.#taken = taken;
  }

  /** Reads the stored allocation. Counts the ports of all Services if there is none for this range. */
  static open(view: View, range: PortRange): PortAllocation {
    const entry = view.get(ALLOCATION_KEY);
    const taken = entry === undefined ? undefined : readTaken(entry, range);
    return new PortAllocation(range, entry, taken ?? within(range, [...portsInUse(view)].flat()));
  }

  /**
   * Differences between the allocation and the ports of all Services in the same view. Undefined if no allocation is stored
   * for this range: the next `open` counts the ports anew.
   */
  static compare(view: View, range: PortRange, ports: Iterable<number>): AllocationDifference | undefined {
    const entry = view.get(ALLOCATION_KEY);
    const taken = entry === undefined ? undefined : readTaken(entry, range);
    if (taken === undefined) return undefined;
    const used = within(range, ports);
    const allocation = new PortAllocation(range, entry, taken);
    const leaked = [...taken].filter((port) => !used.has(port));
    const missing = [...used].filter((port) => !taken.has(port));
    for (const port of leaked) allocation.release(port);
    for (const port of missing) allocation.take(port);
    return { leaked, missing, ...allocation.changes() };
  }

  get rangeText(): string {
    return `${this.#range.first}-${this.#range.last}`;
  }

  contains(port: number): boolean {
    return port >= this.#range.first && port <= this.#range.last;
  }

  isTaken(port: number): boolean {
    return this.#taken.has(port);
  }

  take(port: number): void {
    this.#taken.add(port);
    this.#isChanged = true;
  }

  release(port: number): void {
    if (this.#taken.delete(port)) this.#isChanged = true;
  }

  /** A free port; undefined if there is none. The search starts at a random offset and tries the reserved part last. */
  findFree(random: Random): number | undefined {
    const { first, last } = this.#range;
    const reserved = reservedOf(last - first + 1);
    return (
      this.#findFrom({ first: first + reserved, last }, random) ??
      this.#findFrom({ first, last: first + reserved - 1 }, random)
    );
  }

  #findFrom({ first, last }: PortRange, random: Random): number | undefined {
    const count = last - first + 1;
    if (count <= 0) return undefined;
    const start = random.below(count);
    for (let i = 0; i < count; i++) {
      const port = first + ((start + i) % count);
      if (!this.#taken.has(port)) return port;
    }
    return undefined;
  }

  /** Empty if no port was taken or released. */
  changes(): { readonly compare: readonly Compare[]; readonly changes: readonly Change[] } {
    if (!this.#isChanged) return { compare: [], changes: [] };
    const value = Buffer.from(
      JSON.stringify({
        kind: "RangeAllocation",
        apiVersion: "v1",
        metadata: { creationTimestamp: null },
        range: this.rangeText,
        data: encodeBits(this.#taken, this.#range),
      }),
    );
    return {
      compare: [{ key: ALLOCATION_KEY, modRevision: this.#entry?.modRevision ?? 0 }],
      changes: [{ type: "put", key: ALLOCATION_KEY, value }],
    };
  }
}

function reservedOf(size: number): number {
  if (size <= RESERVED_MIN) return 0;
  return Math.min(RESERVED_MAX, Math.max(RESERVED_MIN, Math.floor(size / RESERVED_SHARE)));
}

/** Undefined if the allocation is for another range or in an unknown format. */
function readTaken({ value }: Entry, range: PortRange): Set<number> | undefined {
  try {
    const stored = parseJson(value).value;
    if (!isJsonObject(stored) || stored["range"] !== `${range.first}-${range.last}`) return undefined;
    return decodeBits(typeof stored["data"] === "string" ? stored["data"] : "", range);
  } catch {
    // A kube-apiserver stores the allocation in protobuf. The ports can always be counted instead.
    return undefined;
  }
}

function encodeBits(taken: ReadonlySet<number>, { first, last }: PortRange): string {
  const bytes = Buffer.alloc(Math.ceil((last - first + 1) / 8));
  for (const port of taken) {
    const bit = port - first;
    const at = bytes.length - 1 - Math.floor(bit / 8);
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit % 8));
  }
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? "" : bytes.subarray(start).toString("base64");
}

function decodeBits(text: string, { first, last }: PortRange): Set<number> {
  const bytes = Buffer.from(text, "base64");
  const taken = new Set<number>();
  for (let bit = 0; bit <= last - first && bit < bytes.length * 8; bit++) {
    const byte = bytes[bytes.length - 1 - Math.floor(bit / 8)] ?? 0;
    if ((byte & (1 << (bit % 8))) !== 0) taken.add(first + bit);
  }
  return taken;
}

/** Yields the ports of one Service at a time, so that callers can pause between them. */
export function* portsInUse(view: View): Generator<readonly number[]> {
  for (const entry of view.range(SERVICES, prefixEnd(SERVICES)))
    yield portsOf(StoredObject.of(entry).peek() as Service);
}

function within({ first, last }: PortRange, ports: Iterable<number>): Set<number> {
  const found = new Set<number>();
  for (const port of ports) if (port >= first && port <= last) found.add(port);
  return found;
}

/** All node ports of the Service, with its health check port. */
export function portsOf(service: Service | undefined): readonly number[] {
  if (service === undefined) return [];
  const { ports = [], healthCheckNodePort } = service.spec;
  return [...ports.map(({ nodePort }) => nodePort), healthCheckNodePort].filter((port) => port !== undefined);
}
