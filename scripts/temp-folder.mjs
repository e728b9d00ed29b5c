// A temporary folder for each run of the tests or benchmarks. A killed run leaves files, mounts and programs in its folder; the next run removes them.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "setpoint-run-";

/** Makes the folder of this process, which removes it at its exit, and cleans up after runs that were killed. */
export function openTempFolder() {
  const parent = tmpdir();
  const left = foldersOfDead(parent, PREFIX).map((name) => join(parent, name));
  // Another user's leftovers are for a run of that user.
  for (const folder of left) if (lstatSync(folder).uid === process.getuid?.()) removeFolder(folder);
  const folder = join(parent, `${PREFIX}${String(process.pid)}`);
  mkdirSync(folder, { recursive: true });
  // Like the folder for temporary files itself: some tests give up the rights of root.
  chmodSync(folder, 0o1777);
  process.once("exit", () => removeFolder(folder));
  return folder;
}

/**
 * Names below the folder that end with the id of a process which does not run.
 * @param {string} parent
 * @param {string} prefix
 */
export function foldersOfDead(parent, prefix) {
  return readdirSync(parent).filter((name) => {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return /^\d+$/.test(pid) && !isAlive(Number(pid));
  });
}

/** @param {string} folder */
function removeFolder(folder) {
  endPrograms(folder);
  for (const place of mountsBelow(folder)) execFileSync("umount", ["--lazy", place], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Ends programs that name the folder on their command line: shims with their pods, and clusters in the background.
 * @param {string} folder
 */
function endPrograms(folder) {
  for (const pid of processIds()) {
    if (!readProc(pid, "cmdline").includes(`${folder}/`)) continue;
    const stat = readProc(pid, "stat");
    // The name is in parentheses and may contain any character; state, parent and group follow.
    const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
    endProcess(group === pid ? -pid : pid);
  }
}

function processIds() {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
}

/** @param {string} folder */
function mountsBelow(folder) {
  const lines = process.platform === "linux" ? readFileSync("/proc/mounts", "utf8").split("\n") : [];
  const places = lines.map((line) => line.split(" ")[1] ?? "");
  return places.filter((place) => place.startsWith(`${folder}/`)).toReversed();
}

/**
 * Empty when the process is gone.
 * @param {number} pid
 * @param {string} file
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** @param {number} target process, or group when negative */
function endProcess(target) {
  try {
    process.kill(target, "SIGKILL");
  } catch {
    // It has ended, or belongs to another user.
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
