#!/usr/bin/env node
/** Entry point of the command `setpoint`: runs the program script, which the build puts beside this file. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runCachedScript } from "../base/process/cached-script.ts";
import type * as Program from "./main.ts";

const file = fileURLToPath(new URL("./program.cjs", import.meta.url));
/** The build wraps the program like a CommonJS module, and passes the caller's `import` as a parameter. */
type Wrapped = (...parts: [object, NodeJS.Require, string, (url: string) => Promise<unknown>]) => void;

/**
 * Lets the heap grow by its live size before V8 collects it; the default is up to three times that. With 20,000 pods
 * this saves a tenth of the memory. A lower value slows watches. See docs/decisions/0015-one-v8-flag.md.
 */
const HEAP_GROWTH = "--heap-growing-percent=100";

setFlagsFromString(HEAP_GROWTH);
const program = runCachedScript(file) as Wrapped;
const exports = {};
program(exports, createRequire(file), file, (url) => import(url));
await (exports as typeof Program).ended;
