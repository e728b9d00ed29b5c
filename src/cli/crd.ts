import { resolve } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import { stringifyYaml } from "../api/yaml/yaml-text.ts";
import { jsonOption, type Command } from "./command.ts";
import { loadModule } from "./load-module.ts";

export const crdCommand: Command = {
  name: "crd",
  usage: ["module"],
  help: "print the CustomResourceDefinitions that MODULE exports",
  options: [jsonOption],
  endsProcess: true,
  async run(io, args) {
    const module = args.operands["module"] ?? "";
    const found = definitionsIn(await loadModule(resolve(io.workingDir, module), io.signal));
    if (found.length === 0) {
      throw new Error(
        `${module} exports no kind: export the result of defineResource, as in "export const Thermostat = defineResource({ … })"`,
      );
    }
    io.stdout(args.options["json"] === true ? jsonText(found) : yamlText(found));
  },
};

function definitionsIn(module: object): readonly JsonObject[] {
  const exported: readonly unknown[] = Object.values(module);
  const definitions = exported.flatMap((value) => (isJsonObject(value) ? [value["definition"]] : []));
  return definitions
    .filter((value) => isJsonObject(value))
    .filter(({ kind }) => kind === "CustomResourceDefinition");
}

function yamlText(definitions: readonly JsonObject[]): string {
  return definitions.map((definition) => stringifyYaml(definition)).join("---\n");
}

/** Several definitions become one List, which kubectl accepts as well. */
function jsonText(definitions: readonly JsonObject[]): string {
  const [first] = definitions;
  const value = definitions.length === 1 ? first : { apiVersion: "v1", kind: "List", items: definitions };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
