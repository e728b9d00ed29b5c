import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { explainObject } from "../insight/explain/explain-object.ts";
import { explanationText } from "../insight/explain/explanation-text.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { jsonOption, type Command } from "./command.ts";
import { namespaceOption, parseNamedObject } from "./named-object.ts";

export const whyCommand: Command = {
  name: "why",
  usage: ["kind/name"],
  help: "explain an object: what blocks it, and what caused it",
  options: [namespaceOption, ...accessOptions, jsonOption],
  async run(io, args) {
    const loop = createRealLoop({ name: "why" });
    const connection = await connectAs(io, args, { loop });
    try {
      const asked = await parseNamedObject(args.operands["kind/name"] ?? "", args, connection);
      const explanation = await explainObject(connection.client, asked, loop.now());
      const isJson = args.options["json"] === true;
      io.stdout(
        isJson
          ? `${JSON.stringify(explanation)}\n`
          : explanationText(explanation, io.screen?.full.size.columns),
      );
    } finally {
      await connection.close();
    }
  },
};
