#!/usr/bin/env node
/** Entry point of the command `setpoint`: runs the program script, which the build puts beside this file. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { runCachedScript } from "../base/process/cached-script.ts";
import type * as Program from "./main.ts";

const file = fileURLToPath(new URL("./program.cjs", import.meta.url));
/** The build wraps the program like a CommonJS module, and passes the caller's `import` as a parameter. */
type Wrapped = (...parts: [object, NodeJS.Require, string, (url: string) => Promise<unknown>]) => void;

const program = runCachedScript(file) as Wrapped;
const exports = {};
program(exports, createRequire(file), file, (url) => import(url));
await (exports as typeof Program).ended;
