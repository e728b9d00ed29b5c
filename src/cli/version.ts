import { KUBERNETES_VERSION, VERSION } from "../cluster/process/version.ts";
import { jsonOption, type Command } from "./command.ts";

export const VERSION_TEXT = `setpoint ${VERSION} (Kubernetes API ${KUBERNETES_VERSION})`;

export const versionCommand: Command = {
  name: "version",
  usage: [],
  help: "print the versions of this program and of its API",
  options: [jsonOption],
  run(io, args) {
    const text = args.options["json"]
      ? JSON.stringify({ version: VERSION, kubernetes: KUBERNETES_VERSION })
      : VERSION_TEXT;
    io.stdout(`${text}\n`);
    return Promise.resolve();
  },
};
