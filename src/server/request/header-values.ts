/** Reads identity headers. Each value stays apart, because a name may contain a comma. */
import type { AcceptedRequest } from "./http.ts";

type Headed = Pick<AcceptedRequest, "headers" | "valuesOf">;

export function valuesOf(request: Headed, name: string): readonly string[] {
  const joined = request.headers.get(name);
  if (joined === undefined) return [];
  return request.valuesOf?.(name) ?? [joined];
}

/**
 * Values of the headers `PREFIX-KEY: value` by key. Keys are lower-case, and percent-encoded where a header cannot
 * hold them.
 */
export function extraFrom(request: Headed, prefix: string): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, readonly string[]>();
  for (const name of request.headers.keys()) {
    if (!name.startsWith(prefix)) continue;
    const key = unescaped(name.slice(prefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(request, name)]);
  }
  return Object.fromEntries(extra);
}

/** Returns a text with broken escapes unchanged. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
