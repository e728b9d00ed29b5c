/** Runs programs one after the other and prints a line of JSON for each: loading the package takes longer than most of them. */
import { pathToFileURL } from "node:url";

const write = process.stdout.write.bind(process.stdout);
for (const file of process.argv.slice(2)) {
  const outcome = { code: 0, output: "" };
  process.stdout.write = (piece) => {
    outcome.output += String(piece);
    return true;
  };
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    outcome.code = 1;
    outcome.output += error instanceof Error ? error.stack : String(error);
  }
  write(`${JSON.stringify({ file, outcome })}\n`);
}
