// Asks the registry for known faults of what the package ships with, and fails for those of high severity. One line, and at most a minute.
import { spawnSync } from "node:child_process";
import { verdictOf } from "./audit-verdict.mjs";
import { ROOT } from "./prepare.mjs";

const TIMEOUT_MS = 60_000;

const args = ["audit", "--omit=dev", "--package-lock-only", "--json", "--loglevel=silent"];
const shell = process.platform === "win32";
const { stdout } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8", timeout: TIMEOUT_MS, shell });
const { line, isRefused } = verdictOf(stdout ?? "");
process.stdout.write(`audit: ${line}\n`);
if (isRefused) process.exitCode = 1;
