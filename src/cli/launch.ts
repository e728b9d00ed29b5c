#!/usr/bin/env node
/** Entry point of the command `setpoint`: runs the program script, which the build puts beside this file. */
import { createRequire } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runCachedScript } from "../base/process/cached-script.ts";
import type * as Program from "./main.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: setpoint needs Node.js 20.19 or later, this is v${process.versions.node}\n`);
  process.exit(1);
}

const file = fileURLToPath(new URL("./program.cjs", import.meta.url));
/** The build wraps the program like a CommonJS module, and passes the caller's `import` as a parameter. */
type Wrapped = (...parts: [object, NodeJS.Require, string, (url: string) => Promise<unknown>]) => void;

const program = runCachedScript(file) as Wrapped;
const exports = {};
program(exports, createRequire(file), file, (url) => import(url));
await (exports as typeof Program).ended;
