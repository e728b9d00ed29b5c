/** The library for certificates takes a tenth of a second to load: it is loaded when somebody asks for the first certificate. */
import { createRequire } from "node:module";
import type * as X509 from "@peculiar/x509";

let loaded: typeof X509 | undefined;

/** Loaded by `require`, since both packages are made for it: `import()` takes twice as long for them. */
export function x509(): typeof X509 {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  // The library's dependency injection asks for this beforehand.
  require("reflect-metadata");
  loaded = require("@peculiar/x509") as typeof X509;
  return loaded;
}
