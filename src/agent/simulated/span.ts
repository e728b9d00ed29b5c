/** Times since the start of a container's run: from `fromMs` inclusive to `untilMs` exclusive. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const ALWAYS: Span = { fromMs: 0, untilMs: Infinity };
export const NEVER: Span = { fromMs: Infinity, untilMs: Infinity };
