/** Imports a module that the user names. */
import { pathToFileURL } from "node:url";
import { errorText } from "../base/error-text.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";

export async function loadModule(path: string, signal: AbortSignal): Promise<object> {
  const loop = createRealLoop({ name: "module" });
  try {
    const loading = import(pathToFileURL(path).href) as Promise<object>;
    return await loop.outside("import", Promise.race([loading, givenUp(signal)]));
  } catch (error) {
    const reason = errorText(error);
    throw new Error(`${path} cannot be imported by Node.js: ${reason}`, { cause: error });
  }
}

/** Rejects when the signal aborts. An import may never end: a module that runs an operator, for example. */
function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("the import was interrupted")), { once: true });
  });
}
