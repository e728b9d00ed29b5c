/** Loads the certificate library on first use, because that takes a tenth of a second. */
import { createRequire } from "node:module";
import type * as X509 from "@peculiar/x509";

let loaded: typeof X509 | undefined;

/** Uses `require`: both packages support it, and `import()` takes twice as long for them. */
export function x509(): typeof X509 {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  // The library's dependency injection needs this first.
  require("reflect-metadata");
  loaded = require("@peculiar/x509") as typeof X509;
  return loaded;
}
