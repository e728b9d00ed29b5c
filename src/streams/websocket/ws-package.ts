/** The package `ws`, loaded with the first WebSocket: most programs end without one, and start sooner. */
import { createRequire } from "node:module";
import type * as Ws from "ws";

let loaded: typeof Ws | undefined;

export function wsPackage(): typeof Ws {
  return (loaded ??= createRequire(import.meta.url)("ws") as typeof Ws);
}
