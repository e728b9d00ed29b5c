/**
 * Which requests belong together, and what they may take: compiled from the FlowSchemas and PriorityLevelConfigurations in
 * the store's visible state. Each request looks at the state itself, so that a change counts from the instant in which it
 * is visible. What is mandatory holds also where it is not stored.
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

/** A FlowSchema at work. */
export interface FlowKind {
  readonly name: string;
  readonly level: PriorityLevel;
  readonly mark: FlowMark;
  readonly meter: FlowMeter;
  readonly spec: FlowSchemaSpec;
}

/** A FlowSchema with those of its rules that mean somebody. */
interface UserFlow {
  readonly kind: FlowKind;
  /** Undefined when they mean everything that is asked for. */
  readonly rules: readonly PolicyRulesWithSubjects[] | undefined;
}

export interface FlowControlParts {
  readonly store: Store;
  readonly loop: Loop;
  readonly pool: SeatPool;
  readonly metrics: FlowMetrics;
  /** Of all levels together. */
  readonly seats: number;
}

interface Configured<S> {
  readonly name: string;
  readonly uid: string;
  readonly spec: S;
}

export class FlowControl {
  readonly #parts: FlowControlParts;
  /** The state that was looked at last, and what stands for the configuration in it. */
  #view: View | undefined;
  #levelMark: Mark | undefined;
  #schemaMark: Mark | undefined;
  /** Those in the configuration, and those that still have requests. */
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #shown = new Map<string, () => void>();
  /** In the order in which they are asked. */
  #kinds: readonly FlowKind[] = [];
  /** Made when somebody first asks, and again when the configuration changes. */
  #users = new WeakMap<User, readonly UserFlow[]>();

  constructor(parts: FlowControlParts) {
    this.#parts = parts;
  }

  /** To which FlowSchema a request belongs. */
  kindOf(user: User, { info }: Exchange): FlowKind {
    this.#look();
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

  /** In order of their names. */
  get levels(): readonly PriorityLevel[] {
    this.#look();
    return [...this.#levels.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #look(): void {
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

  /** None of a FlowSchema whose level is not there. */
  #kindsOf({ name, uid, spec }: Configured<FlowSchemaSpec>): readonly FlowKind[] {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level === undefined || level.isQuiescing) return [];
    const mark = { schemaUid: uid, levelUid: level.uid };
    const known = this.#kinds.find((kind) => kind.name === name && kind.level.name === level.name);
    const meter = known?.meter ?? this.#parts.metrics.meter(level.name, name);
    return [{ name, level, mark, spec, meter }];
  }

  /** For who is in no group that anybody thought of. */
  #fallback(): FlowKind {
    const kind = this.#kinds.find(({ name }) => name === CATCH_ALL);
    assert(kind !== undefined, "there is a FlowSchema for everybody");
    return kind;
  }
}

/** What tells the flows of one FlowSchema apart. */
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
    // One that cannot be read takes no part, and keeps nobody's request from being served.
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

/** What is mandatory is as it must be, whatever is stored. */
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

/** Among equals by name, as upstream. */
function byPrecedence(a: Configured<FlowSchemaSpec>, b: Configured<FlowSchemaSpec>): number {
  const difference = a.spec.matchingPrecedence - b.spec.matchingPrecedence;
  if (difference !== 0) return difference;
  return a.name < b.name ? -1 : 1;
}
