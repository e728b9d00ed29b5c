/** Times since the start of a container's run: from `fromMs` inclusive to `untilMs` exclusive. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const ALWAYS: TimeSpan = { fromMs: 0, untilMs: Infinity };
export const NEVER: TimeSpan = { fromMs: Infinity, untilMs: Infinity };
