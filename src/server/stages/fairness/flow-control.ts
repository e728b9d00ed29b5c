/**
 * Maps requests to flows and levels, compiled from the FlowSchemas and PriorityLevelConfigurations in the store's
 * visible state. Each request checks that state, so a change applies as soon as it is visible. Mandatory objects apply
 * even if not stored.
 */
import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from "../../../api/generated/types/flowcontrol-v1.ts";
import { assert } from "../../../base/assert.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { CATCH_ALL } from "../../../resources/flow-control/mandatory-flows.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Mark, Store, View } from "../../../store/store.ts";
import { findReadable } from "../../objects/stored-object.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { FlowMark } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import { DEFAULT_LEVELS, DEFAULT_SCHEMAS } from "./default-flows.ts";
import { isAskedFor, meansEverything, rulesFor } from "./flow-matcher.ts";
import type { FlowMeter, FlowMetrics } from "./flow-metrics.ts";
import { PriorityLevel } from "./priority-level.ts";
import { seatLimits } from "./seat-limits.ts";
import type { SeatPool } from "./seat-pool.ts";

const SCHEMAS = "/registry/flowschemas/";
const LEVELS = "/registry/prioritylevelconfigurations/";

/** A FlowSchema in use. */
export interface FlowKind {
  readonly name: string;
  readonly level: PriorityLevel;
  readonly mark: FlowMark;
  readonly meter: FlowMeter;
  readonly spec: FlowSchemaSpec;
}

/** A FlowSchema with its rules for one user. */
interface UserFlow {
  readonly kind: FlowKind;
  /** Undefined when the rules match every request. */
  readonly rules: readonly PolicyRulesWithSubjects[] | undefined;
}

export interface FlowControlParts {
  readonly store: Store;
  readonly loop: Loop;
  readonly pool: SeatPool;
  readonly metrics: FlowMetrics;
  /** Seats of all levels together. */
  readonly seats: number;
}

interface Configured<S> {
  readonly name: string;
  readonly uid: string;
  readonly spec: S;
}

export class FlowControl {
  readonly #parts: FlowControlParts;
  /** The last state read, and the marks of its configuration. */
  #view: View | undefined;
  #levelMark: Mark | undefined;
  #schemaMark: Mark | undefined;
  /** Configured levels, and removed ones that still have requests. */
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #shown = new Map<string, () => void>();
  /** In order of precedence. */
  #kinds: readonly FlowKind[] = [];
  /** Compiled at a user's first request; cleared when the configuration changes. */
  #users = new WeakMap<User, readonly UserFlow[]>();

  constructor(parts: FlowControlParts) {
    this.#parts = parts;
  }

  /** The FlowSchema of a request. */
  kindOf(user: User, { info }: Exchange): FlowKind {
    this.#refresh();
    let flows = this.#users.get(user);
    if (flows === undefined) {
      flows = flowsFor(user, this.#kinds);
      this.#users.set(user, flows);
    }
    for (const { kind, rules } of flows) {
      if (rules === undefined || isAskedFor(rules, info)) return kind;
    }
    return this.#fallback();
  }

  /** Sorted by name. */
  get levels(): readonly PriorityLevel[] {
    this.#refresh();
    return [...this.#levels.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #refresh(): void {
    const { view } = this.#parts.store;
    if (view === this.#view) return;
    this.#view = view;
    const levelMark = view.mark(LEVELS);
    const schemaMark = view.mark(SCHEMAS);
    if (levelMark === this.#levelMark && schemaMark === this.#schemaMark) return;
    this.#levelMark = levelMark;
    this.#schemaMark = schemaMark;
    this.#configure(
      configuredIn<PriorityLevelConfiguration>(view, LEVELS),
      configuredIn<FlowSchema>(view, SCHEMAS),
    );
  }

  #configure(
    levels: readonly Configured<PriorityLevelConfigurationSpec>[],
    schemas: readonly Configured<FlowSchemaSpec>[],
  ): void {
    this.#configureLevels(withMandatory(levels, DEFAULT_LEVELS));
    const before = this.#kinds;
    const ordered = withMandatory(schemas, DEFAULT_SCHEMAS).toSorted(byPrecedence);
    this.#kinds = ordered.flatMap((schema) => this.#kindsOf(schema));
    const meters = new Set(this.#kinds.map(({ meter }) => meter));
    for (const { meter } of before) if (!meters.has(meter)) meter.forget();
    this.#users = new WeakMap();
  }

  #configureLevels(configured: readonly Configured<PriorityLevelConfigurationSpec>[]): void {
    const { loop, pool, metrics, seats } = this.#parts;
    const limits = seatLimits(new Map(configured.map(({ name, spec }) => [name, spec])), seats);
    for (const level of this.#levels.values()) level.isQuiescing = true;
    for (const { name, uid, spec } of configured) {
      const level = this.#levels.get(name) ?? new PriorityLevel(name, () => loop.elapsed());
      this.#levels.set(name, level);
      level.configure(spec, uid, limits.get(name) ?? level.limits);
      if (!this.#shown.has(name)) this.#shown.set(name, metrics.show(level));
    }
    for (const [name, level] of this.#levels) if (level.isQuiescing && level.isIdle) this.#drop(name);
    pool.use([...this.#levels.values()].filter(({ isExempt }) => !isExempt));
  }

  #drop(name: string): void {
    this.#levels.delete(name);
    this.#shown.get(name)?.();
    this.#shown.delete(name);
  }

  /** Empty for a FlowSchema whose level is missing. */
  #kindsOf({ name, uid, spec }: Configured<FlowSchemaSpec>): readonly FlowKind[] {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level === undefined || level.isQuiescing) return [];
    const mark = { schemaUid: uid, levelUid: level.uid };
    const known = this.#kinds.find((kind) => kind.name === name && kind.level.name === level.name);
    const meter = known?.meter ?? this.#parts.metrics.meter(level.name, name);
    return [{ name, level, mark, spec, meter }];
  }

  /** The catch-all FlowSchema, for users in neither `system:authenticated` nor `system:unauthenticated`. */
  #fallback(): FlowKind {
    const kind = this.#kinds.find(({ name }) => name === CATCH_ALL);
    assert(kind !== undefined, "the catch-all FlowSchema exists");
    return kind;
  }
}

/** Distinguishes the flows of one FlowSchema. */
export function distinguisherOf({ spec }: FlowKind, user: User, { info }: Exchange): string {
  const by = spec.distinguisherMethod?.type;
  if (by === "ByUser") return user.name;
  return by === "ByNamespace" && info.type === "resource" ? info.accessNamespace : "";
}

function flowsFor(user: User, kinds: readonly FlowKind[]): readonly UserFlow[] {
  const flows: UserFlow[] = [];
  for (const kind of kinds) {
    const rules = rulesFor(kind.spec.rules ?? [], user);
    if (rules.length === 0) continue;
    if (meansEverything(rules)) return [...flows, { kind, rules: undefined }];
    flows.push({ kind, rules });
  }
  return flows;
}

function configuredIn<T extends FlowSchema | PriorityLevelConfiguration>(
  view: View,
  prefix: string,
): readonly Configured<T["spec"]>[] {
  const found: Configured<T["spec"]>[] = [];
  for (const entry of view.range(prefix, prefixEnd(prefix))) {
    // Unreadable objects are ignored and do not block requests.
    const object = findReadable(entry) as T | undefined;
    if (object === undefined) continue;
    found.push({ name: object.metadata.name, uid: object.metadata.uid, spec: object.spec });
  }
  return found;
}

interface Default<S> {
  readonly name: string;
  readonly isMandatory: boolean;
  readonly spec: S;
}

/** Mandatory objects have their default spec, even if another one is stored. */
function withMandatory<S>(
  stored: readonly Configured<S>[],
  defaults: readonly Default<S>[],
): readonly Configured<S>[] {
  const mandatory = new Map(defaults.filter((one) => one.isMandatory).map(({ name, spec }) => [name, spec]));
  const names = new Set(stored.map(({ name }) => name));
  const missing = [...mandatory].filter(([name]) => !names.has(name));
  return [
    ...stored.map((one) => ({ ...one, spec: mandatory.get(one.name) ?? one.spec })),
    ...missing.map(([name, spec]) => ({ name, uid: "", spec })),
  ];
}

/** Equal precedences are sorted by name, as upstream. */
function byPrecedence(a: Configured<FlowSchemaSpec>, b: Configured<FlowSchemaSpec>): number {
  const difference = a.spec.matchingPrecedence - b.spec.matchingPrecedence;
  if (difference !== 0) return difference;
  return a.name < b.name ? -1 : 1;
}
