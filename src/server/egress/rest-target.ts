/** Cleans the target of a call as client-go's REST client does: a normalized path, and no query of the URL. */
import { posix } from "node:path";
import type { EgressTarget } from "./egress.ts";

/** A URL that cannot be parsed stays unchanged: the call refuses it. */
export function restTarget(target: EgressTarget): EgressTarget {
  if (target.type === "service") return { ...target, path: escaped(cleaned(bytesOf(target.path))) };
  if (!URL.canParse(target.url)) return target;
  const { origin, pathname } = new URL(target.url);
  return { type: "url", url: origin + escaped(cleaned(unescaped(bytesOf(pathname)))) };
}

/** `//deny/` is `/deny`, `/a/../b` is `/b`. */
function cleaned(path: string): string {
  const joined = posix.join("/", path);
  return joined.endsWith("/") && joined !== "/" ? joined.slice(0, -1) : joined;
}

/** One character per byte, so that an escape that is not UTF-8 survives. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function unescaped(bytes: string): string {
  return bytes.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

/** Escapes what Go's net/url escapes in a path. */
function escaped(bytes: string): string {
  return bytes.replaceAll(
    /[^A-Za-z0-9\-_.~$&+,/:;=@]/g,
    (char) => `%${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
