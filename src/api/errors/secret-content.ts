/** Hides secret content in errors: they are logged, audited and sent to clients. */

/** Upstream's placeholder for secret content. */
export const REDACTED = "<secret contents redacted>";

const SECRET_KINDS: ReadonlySet<string> = new Set(["Secret", "TokenRequest", "TokenReview"]);

/** True if objects of this kind contain secrets. */
export function hidesContent(kind: string | undefined): boolean {
  return kind !== undefined && SECRET_KINDS.has(kind);
}

/** The content as text, or the placeholder if objects of this kind contain secrets. */
export function shownContent(kind: string | undefined, text: () => string): string {
  return hidesContent(kind) ? REDACTED : text();
}
