import { expect, test } from "vitest";
import type { Command } from "../command.ts";
import { candidatesFor, type Candidates, type Lookup } from "./candidates.ts";

const run = (): Promise<void> => Promise.resolve();
const COMMANDS: readonly Command[] = [
  {
    name: "up",
    usage: [],
    help: "start",
    options: [
      { flags: "-d, --detach", help: "in the background" },
      { flags: "--data-dir <dir>", help: "folder" },
      { flags: "--store <type>", help: "store", choices: ["file", "memory"] },
      { flags: "--wait [bool]", help: "wait", choices: ["true", "false"] },
    ],
    run,
  },
  {
    name: "get",
    usage: ["[objects...]"],
    help: "show",
    options: [
      { flags: "-n, --namespace <name>", help: "namespace" },
      { flags: "--name <name>", help: "cluster" },
    ],
    run,
  },
  { name: "why", usage: ["kind/name"], help: "explain", options: [], run },
  { name: "exec", usage: ["object", "[command...]"], help: "run", options: [], run },
  { name: "shell", usage: ["shell"], choices: { shell: ["bash", "zsh"] }, help: "script", options: [], run },
  { name: "save", usage: ["file"], help: "save", options: [], run },
];

const NAMES: Readonly<Record<string, readonly string[]>> = { pods: ["a", "b"], namespaces: ["default", "x"] };
const LOOKUP: Lookup = {
  types: () => Promise.resolve(["pods", "nodes"]),
  names: (type, { namespace }) => Promise.resolve(namespace === "x" ? ["of-x"] : (NAMES[type] ?? [])),
  clusters: () => Promise.resolve(["setpoint", "dev"]),
  contexts: () => Promise.resolve([]),
};

test.each([
  ["", ["up", "get", "why", "exec", "shell", "save", "help"]],
  ["u", ["up"]],
  ["--h", ["--help"]],
  ["none ", []],
  ["help g", ["get"]],
  ["up -", ["-d", "--detach", "--data-dir", "--store", "--wait", "--help"]],
  ["up --st", ["--store"]],
  ["up --store ", ["file", "memory"]],
  ["up --store=m", ["--store=memory"]],
  ["up --data-dir ", "files"],
  ["up --data-dir=/t", "files"],
  // The value in brackets may be missing.
  ["up --wait --de", ["--detach"]],
  ["up ", []],
  ["get ", ["pods", "nodes"]],
  ["get nodes,p", ["nodes,pods"]],
  ["get pods ", ["a", "b"]],
  ["get pods a ", ["b"]],
  ["get pods/", ["pods/a", "pods/b"]],
  ["get pods/a n", ["nodes/"]],
  ["get -n x pods ", ["of-x"]],
  ["get --namespace=x pods ", ["of-x"]],
  ["get -n d", ["default"]],
  ["get --name d", ["dev"]],
  ["why ", ["pods/", "nodes/"]],
  ["why pods/b", ["pods/b"]],
  ["exec ", ["a", "b"]],
  ["exec a -- l", "files"],
  ["shell ", ["bash", "zsh"]],
  ["save ", "files"],
])("after %j come %j", async (line, expected) => {
  const found: Candidates = await candidatesFor(line.split(" "), COMMANDS, LOOKUP);

  expect(found === "files" ? found : found.map(({ text }) => text)).toEqual(expected);
});
