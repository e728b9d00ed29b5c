/** Reads the operand `KIND/NAME` of commands about one object, and their option for its namespace. */
import type { ResourceType } from "../api/api-object.ts";
import type { Connection } from "../client/connection.ts";
import { findServedKind } from "../insight/served-kind.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const namespaceOption: OptionSpec = {
  flags: "-n, --namespace <name>",
  help: "namespace of the object (default: that of the context)",
};

export interface NamedObject {
  readonly type: ResourceType;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
}

/** The object that the operand names; it may not exist. */
export async function parseNamedObject(
  text: string,
  args: Arguments,
  { client, namespace }: Pick<Connection, "client" | "namespace">,
): Promise<NamedObject> {
  const slash = text.indexOf("/");
  const [kind, name] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (kind === "" || name === "" || name.includes("/"))
    throw new UsageError(`the object must be KIND/NAME, such as pod/web, found "${text}"`);
  const type = await findServedKind(client, kind);
  if (type === undefined) throw new Error(`the server has no kind "${kind}": see kubectl api-resources`);
  return { type, name, namespace: type.namespaced ? (findText(args, "namespace") ?? namespace) : "" };
}
