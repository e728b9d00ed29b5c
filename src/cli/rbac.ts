import { resolve } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import { stringifyYaml } from "../api/yaml/yaml-text.ts";
import type { Controller } from "../runtime/controller/controller.ts";
import { permissionsOf } from "../runtime/controller/permissions.ts";
import { findText, jsonOption, type Command } from "./command.ts";
import { loadModule } from "./load-module.ts";

export const rbacCommand: Command = {
  name: "rbac",
  usage: ["module"],
  help: "print a ClusterRole for the controllers that MODULE exports",
  options: [
    { flags: "--name <name>", help: "name of the ClusterRole (default: the controller)" },
    jsonOption,
  ],
  endsProcess: true,
  async run(io, args) {
    const module = args.operands["module"] ?? "";
    const controllers = controllersIn(await loadModule(resolve(io.workingDir, module), io.signal));
    const [first] = controllers;
    if (first === undefined) {
      throw new Error(
        `${module} exports no controller: export the result of defineController, as in "export const controller = defineController({ … })"`,
      );
    }
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: findText(args, "name") ?? first.definition.name },
      rules: permissionsOf(controllers),
    };
    io.stdout(
      args.options["json"] === true ? `${JSON.stringify(role, undefined, 2)}\n` : stringifyYaml(role),
    );
  },
};

function controllersIn(module: object): readonly Controller[] {
  const exported: readonly unknown[] = Object.values(module).flat();
  return exported.filter(isController);
}

function isController(value: unknown): value is Controller {
  const definition = isJsonObject(value) ? value["definition"] : undefined;
  return isJsonObject(definition) && typeof definition["reconcile"] === "function";
}
