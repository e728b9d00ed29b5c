/** A unit test is small: it starts no process, thread or whole cluster, opens no socket and no store on disk. */
import { posix } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles, withoutComments } from "./source-files.ts";

const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  "a process": /from "node:child_process"/,
  "a thread": /from "node:worker_threads"/,
  "a socket": /from "node:(?:http2|https|tls)"|\.listen\(|\brunCluster\(/,
  "a whole cluster": /\bstartCluster\(/,
  "a store on disk": /\b(?:openFileBackend|openFileStore)\(/,
};
const SUPPORT = /(?:\/fixture|-fixture|\/worker|-child)\.ts$/;

const texts = new Map(sourceFiles("src").map(({ path, text }) => [path, withoutComments(text)]));
const unitTests = [...texts.keys()].filter((path) => /(?<!\.system)\.test\.ts$/.test(path));

/** Forbidden needs of a test, and of the test support that it imports. */
function needsOf(path: string, isTest = true): readonly string[] {
  const text = texts.get(path) ?? "";
  const own = Object.keys(FORBIDDEN).filter((need) => FORBIDDEN[need]?.test(text));
  if (!isTest) return own;
  const imports = [...text.matchAll(/from "(?<file>\.[^"]+)"/g)].map(({ groups }) =>
    posix.join(posix.dirname(path), groups?.["file"] ?? ""),
  );
  return [...own, ...imports.filter((file) => SUPPORT.test(file)).flatMap((file) => needsOf(file, false))];
}

test("unit tests need no process, thread, socket, disk or cluster; such a test is named x.system.test.ts", () => {
  expect(unitTests.length).toBeGreaterThan(350);
  expect(unitTests.flatMap((path) => needsOf(path).map((need) => `${path}: ${need}`))).toEqual([]);
});

test("the need of a test is found", () => {
  expect(needsOf("src/store/file/burst.system.test.ts")).toContain("a store on disk");
  expect(needsOf("src/server/transport/listener.system.test.ts")).toContain("a socket");
});
