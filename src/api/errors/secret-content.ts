/** Content that errors must not show: they are logged, audited and passed on. */

/** As upstream writes it in place of such content. */
export const REDACTED = "<secret contents redacted>";

const SECRET_KINDS: ReadonlySet<string> = new Set(["Secret", "TokenRequest", "TokenReview"]);

/** Whether an object of this kind keeps secrets. */
export function hidesContent(kind: string | undefined): boolean {
  return kind !== undefined && SECRET_KINDS.has(kind);
}

/** The content as text, unless an object of this kind keeps secrets. */
export function shownContent(kind: string | undefined, text: () => string): string {
  return hidesContent(kind) ? REDACTED : text();
}
