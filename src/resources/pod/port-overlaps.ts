/**
 * Warnings about ports of a pod that are there twice. Ports are found by what they conflict with: comparing all with all would
 * take seconds for a list as long as a body can hold.
 */
import type { FieldPath } from "../../api/errors/field-error.ts";
import type { ContainerPort } from "../../api/generated/types/core-v1.ts";

/** An answer has room for as many warnings. */
const WARNINGS_MAX = 256;

interface PlacedPort {
  readonly port: ContainerPort;
  readonly at: FieldPath;
  /** Its place among all ports of the pod. */
  readonly order: number;
}

export class PortOverlaps {
  /** By port and protocol. */
  readonly #groups = new Map<string, PortGroup>();
  readonly #warnings: string[] = [];
  #count = 0;

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  warn(text: string): void {
    if (this.#room > 0) this.#warnings.push(text);
  }

  add(port: ContainerPort, at: FieldPath): void {
    const placed = { port, at, order: this.#count++ };
    const key = `${port.containerPort}/${port.protocol ?? ""}`;
    const known = this.#groups.get(key);
    const group = known ?? new PortGroup();
    if (known === undefined) this.#groups.set(key, group);
    else this.#compare(placed, group);
    group.add(placed);
  }

  #compare({ port, at }: PlacedPort, group: PortGroup): void {
    for (const other of group.conflicting(port, this.#room)) {
      const kind = overlapOf(port, other.port);
      this.warn(`${at.toString()}: ${kind} port definition with ${other.at.toString()}`);
    }
  }

  get #room(): number {
    return WARNINGS_MAX - this.#warnings.length;
  }
}

/** Ports with the same number and protocol. */
class PortGroup {
  readonly #all: PlacedPort[] = [];
  readonly #withoutHostPort: PlacedPort[] = [];
  /** By host port alone, and by host port and address. */
  readonly #onHost = new Map<string, PlacedPort[]>();

  add(placed: PlacedPort): void {
    this.#all.push(placed);
    const { hostPort, hostIP = "" } = placed.port;
    if (hostPort === undefined) {
      this.#withoutHostPort.push(placed);
      return;
    }
    for (const key of [`${hostPort}`, `${hostPort} ${hostIP}`]) {
      const known = this.#onHost.get(key);
      if (known === undefined) this.#onHost.set(key, [placed]);
      else known.push(placed);
    }
  }

  /** The first `max` that a port overlaps, in their order. */
  conflicting({ hostPort, hostIP }: ContainerPort, max: number): readonly PlacedPort[] {
    if (hostPort === undefined) return this.#all.slice(0, max);
    const keys = hostIP === undefined ? [`${hostPort}`] : [`${hostPort} ${hostIP}`, `${hostPort} `];
    const lists = [this.#withoutHostPort, ...keys.map((key) => this.#onHost.get(key) ?? [])];
    const found = lists.flatMap((list) => list.slice(0, max));
    return found.sort((a, b) => a.order - b.order).slice(0, max);
  }
}

function overlapOf(port: ContainerPort, other: ContainerPort): string {
  const isSameHostPort = port.hostPort === other.hostPort;
  if (port.hostIP === other.hostIP && isSameHostPort) return "duplicate";
  return isSameHostPort && port.hostPort !== undefined ? "dangerously ambiguous" : "overlapping";
}
