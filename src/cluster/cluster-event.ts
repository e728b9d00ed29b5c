/** Lifecycle events of a cluster in this process; `setpoint up --json` prints exactly these. */
import type { StoreOptions } from "./options.ts";

export type ClusterEvent = PhaseEvent | ReadyEvent | StoppedEvent;

export interface StoppedEvent {
  readonly event: "stopped";
  /** Fate of the process pods; undefined when this machine was no node. */
  readonly processPods?: "ended" | "left running";
}

/** A step of the start that has succeeded, with its duration. */
export type PhaseEvent = { readonly event: "phase"; readonly durationMs: number } & (
  | {
      readonly phase: "store";
      readonly store: StoreOptions["type"];
      readonly dataDir: string;
      /** Number of stored objects. */
      readonly objects: number;
    }
  | { readonly phase: "api"; readonly server: string }
  | {
      readonly phase: "nodes";
      readonly nodes: number;
      /** Whether this machine is one of them. */
      readonly hasMachine: boolean;
    }
);

export interface ReadyEvent {
  readonly event: "ready";
  /** Name of the cluster. */
  readonly name: string;
  readonly server: string;
  /** Always DATA-DIR/kubeconfig. */
  readonly kubeconfig: string;
  /** The context that was merged into the user's kubeconfig. */
  readonly context?: MergedContext;
  /** Why it was not merged: one sentence with the remedy. */
  readonly contextProblem?: string;
  readonly store: StoreOptions["type"];
  readonly dataDir: string;
  readonly revision: number;
  /** Number of nodes that this process runs. */
  readonly nodes: number;
}

export interface MergedContext {
  readonly name: string;
  /** Path of the user's kubeconfig. */
  readonly file: string;
  /** Whether it is the current context. */
  readonly isCurrent: boolean;
}

/** Figures of a running cluster for a line that is shown live. */
export interface ClusterSummary {
  readonly nodes: number;
  readonly pods: number;
  /** Objects whose controller failed in its last pass. */
  readonly failing: number;
  readonly passesPerSecond: number;
}
