#!/usr/bin/env node
/** What the command `setpoint` runs: the program, which the build put beside this file as one script. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { favourMainThread } from "../base/helper-threads.ts";
import { runKeptScript } from "../base/kept-script.ts";
import type * as Program from "./main.ts";

const file = fileURLToPath(new URL("./program.cjs", import.meta.url));
/** The build wraps it up as Node.js does with modules of this kind, and has it import through its caller. */
type Wrapped = (...parts: [object, NodeJS.Require, string, (url: string) => Promise<unknown>]) => void;

/**
 * V8 makes objects old at once where most of those made at the same place outlived a collection. Of a server these are parts of requests that happened to be
 * under way. They die soon all the same, but that is found out only when everything is collected, and until then what they point to is kept with them: four
 * fifths of what an idle cluster of 1,000 nodes leaves behind. Told before the program is read, for V8 takes no compiled code that was made with other flags.
 */
setFlagsFromString("--no-allocation-site-pretenuring");
favourMainThread();
const program = runKeptScript(file) as Wrapped;
const exports = {};
program(exports, createRequire(file), file, (url) => import(url));
await (exports as typeof Program).ended;
