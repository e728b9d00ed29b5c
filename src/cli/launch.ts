#!/usr/bin/env node
/** What the command `setpoint` runs: the program, which the build put beside this file as one script. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { runCachedScript } from "../base/process/cached-script.ts";
import { favourMainThread } from "../base/process/helper-threads.ts";
import type * as Program from "./main.ts";

const file = fileURLToPath(new URL("./program.cjs", import.meta.url));
/** The build wraps it up as Node.js does with modules of this kind, and has it import through its caller. */
type Wrapped = (...parts: [object, NodeJS.Require, string, (url: string) => Promise<unknown>]) => void;

favourMainThread();
const program = runCachedScript(file) as Wrapped;
const exports = {};
program(exports, createRequire(file), file, (url) => import(url));
await (exports as typeof Program).ended;
