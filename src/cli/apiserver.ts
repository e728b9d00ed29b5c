import { eventsOption, parseServerOptions, serverOptions } from "./cluster-options.ts";
import type { Command } from "./command.ts";
import { runReported } from "./run-reported.ts";

export const apiserverCommand: Command = {
  name: "apiserver",
  usage: [],
  help: "run the API server alone, without controllers and nodes",
  options: [...serverOptions, eventsOption],
  run: (io, args) =>
    runReported({ ...parseServerOptions(io, args), loops: "none", nodes: 0, podCidrs: [] }, io, args),
};
